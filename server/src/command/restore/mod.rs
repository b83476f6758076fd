//! `plant-store restore`: a backup in the place of the store.
//!
//! Nothing is moved before the backup was read to its end and the new store is whole. It may be run
//! again after any end.

mod difference;

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use plant_store_store::token::{StoredToken, TokenName};
use plant_store_store::{Engine, Outcome, Place, StoreError, StoreUrl, open_to_read};

use crate::command::check;
use crate::command::copying::{Copied, commit, copy_plants, copy_tokens};
use crate::command::restore::difference::Difference;
use crate::command::salvage::{open_damaged, salvage};
use crate::command::shared::output::print;
use crate::command::shared::store_args::StoreArgs;
use crate::command::shared::variable;

/// Put a backup in the place of a store that no server runs on
///
/// The tokens stay those of the store in place: what was revoked stays revoked. The old files are
/// moved into a folder beside the store. If this was interrupted, run it again: it goes on, or says
/// that it is done. A database must be empty, and its old one is left as it is.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The file of the backup
    backup: PathBuf,

    /// The store to replace. No variable sets it
    #[arg(long = "store", value_name = "URL")]
    url: StoreUrl,

    /// PEM file with the authority of a database's certificate
    #[arg(long = "store-ca", value_name = "FILE", env = variable::of_flag("store-ca"))]
    ca: Option<PathBuf>,

    /// Take the tokens of the backup instead, also those that were revoked since
    #[arg(long, value_name = "WHOSE")]
    tokens: Option<Whose>,

    /// Keep the plants of the store in place that the backup does not have, as far as they can be
    /// read
    #[arg(long)]
    keep_newer: bool,
}

/// Whose tokens, if they are not to be those of the store in place.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Whose {
    Backup,
}

/// Restores the backup.
pub fn run(args: &Args) -> Result<()> {
    let url = args.url.absolute();
    let place = Place::take(&url, args.ca.as_deref())?;
    let from = StoreUrl::Sqlite(args.backup.clone());
    let contents = check::sound(&StoreArgs { url: from.clone(), ca: None })?;
    let backup = open_to_read(&from, None)?;
    let require_room = || place.require_room(contents.store_bytes.unwrap_or_default());
    if place.is_full() {
        // SQLite could not read the store, and would leave files beside it.
        require_room()?;
    }
    let old = open_to_read(&url, args.ca.as_deref());
    let tokens = tokens(args, &url, &old, &*backup)?;
    if is_restored(args, &url, &old, &tokens, &*backup)? {
        let put_away = place.last_put_away().map(|file| {
            let restore = format!("plant-store restore {} --store {url}", file.display());
            format!("; `{restore} --keep-newer` also takes the plants of the old file")
        });
        let put_away = put_away.unwrap_or_default();
        return print(&format!("{url} holds what is in {from}{put_away}; now start the server\n"));
    }
    drop(old);
    require_room()?;
    let mut said = Vec::new();
    let put_away = place.put(&mut |new| {
        if !is_file(&url) {
            require_nothing_else(args, &tokens, new, &*backup)?;
        }
        let mut copied = copy_plants(&*backup, &url, new)?;
        // A database keeps what it has.
        let keeps = args.keep_newer && is_file(&url);
        let newer = keeps.then(|| keep_newer(args, &url, new)).transpose()?;
        if keeps {
            copied = Copied::all_of(new)?;
        }
        copied.tokens = copy_tokens(&tokens.valid, new)?;
        said.push(format!("{from} is restored to {url}; {copied}"));
        said.extend(newer);
        Ok(())
    })?;
    said.extend(tokens.said());
    said.extend(put_away.map(|folder| format!("the old files are in {}", folder.display())));
    print(&format!("{}; now start the server\n", said.join("; ")))
}

/// The tokens of the new store.
struct Tokens {
    valid: Vec<StoredToken>,
    /// Those that the store in place does not accept.
    come_back: Vec<TokenName>,
}

impl Tokens {
    /// Which ones come back, if there are any.
    fn said(&self) -> Option<String> {
        let names: Vec<_> = self.come_back.iter().map(TokenName::as_str).collect();
        (!names.is_empty()).then(|| format!("tokens that come back: {}", names.join(", ")))
    }
}

/// The store in place, or why it cannot be read.
type Old = Result<Box<dyn Engine>, StoreError>;

/// The tokens of the new store.
fn tokens(args: &Args, url: &StoreUrl, old: &Old, backup: &dyn Engine) -> Result<Tokens> {
    let kept = match old {
        Ok(old) => old.tokens().map_err(|cause| cause.to_string()),
        Err(cause) => Err(format!("{cause:#}")),
    };
    let valid = match (args.tokens, &kept) {
        (Some(Whose::Backup), _) => backup.tokens()?,
        (None, Ok(kept)) => kept.clone(),
        (None, Err(cause)) if is_file(url) && matches!(old, Err(StoreError::Missing(_))) => bail!(
            "{cause}. Is its disk mounted? Nothing was changed. If the store is lost, its tokens \
             are too: see --tokens in `plant-store restore --help`"
        ),
        (None, Err(cause)) => bail!(
            "the tokens of the store in place cannot be kept: {cause}. Nothing was changed. Those \
             of the backup, also those that were revoked since, are taken by `--tokens backup`"
        ),
    };
    let kept = kept.unwrap_or_default();
    let come_back = valid.iter().filter(|token| !kept.contains(token));
    let come_back = come_back.map(|token| token.name.clone()).collect();
    Ok(Tokens { valid, come_back })
}

/// Whether the store in place is sound, and has the plants and the tokens that it is to have.
fn is_restored(
    args: &Args,
    url: &StoreUrl,
    old: &Old,
    tokens: &Tokens,
    backup: &dyn Engine,
) -> Result<bool> {
    let Ok(old) = old else { return Ok(false) };
    let is_whole = || -> Result<bool, StoreError> {
        let Difference { has_less, has_more } = Difference::between(&**old, backup)?;
        let is_sound = old.check()?.faults.is_empty();
        let has_plants = !has_less && (!has_more || args.keep_newer);
        Ok(is_sound && has_plants && old.tokens()? == tokens.valid)
    };
    match is_whole() {
        // A file that cannot be read to its end does not have them.
        Err(_) if is_file(url) => Ok(false),
        is_whole => Ok(is_whole?),
    }
}

/// Fails if a database has plants or tokens that the restored store is not to have.
fn require_nothing_else(
    args: &Args,
    tokens: &Tokens,
    database: &dyn Engine,
    backup: &dyn Engine,
) -> Result<()> {
    let url = &args.url;
    ensure!(
        args.keep_newer || !Difference::between(database, backup)?.has_more,
        "{url} is not empty: it has plants that the backup lacks. Take an empty database"
    );
    ensure!(
        database.tokens()?.iter().all(|token| tokens.valid.contains(token)),
        "{url} is not empty: it has tokens that the backup lacks. Take an empty database"
    );
    Ok(())
}

fn is_file(url: &StoreUrl) -> bool {
    matches!(url, StoreUrl::Sqlite(_))
}

/// Adds the plants of the store in place that the backup does not have. Returns what to say of
/// them.
fn keep_newer(args: &Args, url: &StoreUrl, new: &dyn Engine) -> Result<String> {
    let old = open_damaged(url, args.ca.as_deref())?;
    let mut newer = 0;
    let mut conflicts = 0;
    let unread = salvage(&*old, |page| {
        let outcomes = commit(page, new)?;
        let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
        newer += count(Outcome::Created);
        conflicts += count(Outcome::Conflict);
        Ok(())
    })?;
    Ok(format!(
        "plants that came after it: {newer}, other plants under its ids: {conflicts}, of the old \
         store cannot be read: {unread}"
    ))
}
