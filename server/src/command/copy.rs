//! `plant-store copy`: backup, restore, and a move to another machine or engine.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use plant_store_store::{self as store, ContentDigest, Engine, Outcome, StoreUrl};

use crate::command::output::print;
use crate::command::pages::for_each_page;
use crate::command::variable;

/// How long a database may take for a page.
const PAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// Copy every plant and every token to another store, also while a server runs on the first one
///
/// The copy holds every plant that was in the store when the command started. Of those that are
/// created meanwhile, it holds some. A file appears whole and synced, or not at all. Into a
/// database the command may be run again after an interruption: it adds what is missing. The digest
/// of the plants, which is printed at the end, is the one that `check` prints for the copy.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store to copy
    #[arg(long, value_name = "URL")]
    from: StoreUrl,

    /// Where the copy is to be: a file that is not there yet, or a database
    #[arg(long, value_name = "URL")]
    to: StoreUrl,

    /// PEM file with the authority of a database's certificate
    #[arg(long, value_name = "FILE", env = variable::of_flag("store-ca"))]
    store_ca: Option<PathBuf>,
}

/// What was copied.
#[derive(Default)]
struct Copied {
    plants: usize,
    /// Of the ids and the texts of the plants.
    digest: ContentDigest,
    /// Those that the copy did not have.
    tokens: usize,
}

/// Copies, and prints how much.
pub fn run(args: &Args) -> Result<()> {
    let Args { from, to, store_ca } = args;
    let ca = store_ca.as_deref();
    let source = store::open(from, ca)?;
    for file in store::unfinished(to) {
        let said = "left by a copy that was killed, or another copy runs; if none does, delete it";
        let _ = writeln!(io::stderr(), "plant-store: {}: {said}", file.display());
    }
    let mut copied = Copied::default();
    store::fill(to, ca, &mut |copy| {
        copy_plants(to, &*source, copy, &mut copied)?;
        // Last: after a failure nobody can use the tokens of a store that was copied by mistake.
        copied.tokens = copy_tokens(&*source, copy)?;
        Ok(())
    })?;
    let Copied { plants, digest, tokens } = copied;
    print(&format!(
        "{from} is copied to {to}; plants: {plants}, tokens added: {tokens}, digest: {digest}\n"
    ))
}

/// Copies every plant.
fn copy_plants(
    to: &StoreUrl,
    source: &dyn Engine,
    copy: &dyn Engine,
    copied: &mut Copied,
) -> Result<()> {
    for_each_page(source, |page| {
        let outcomes = copy.commit(page, Instant::now() + PAGE_TIMEOUT)?;
        copy.upkeep()?;
        let mut rows = page.iter().zip(outcomes);
        if let Some((row, _)) = rows.find(|(_, outcome)| *outcome == Outcome::Conflict) {
            let id = row.id;
            bail!("{to} has a different plant under the id {id}: it is left as it is");
        }
        copied.plants += page.len();
        copied.digest.add(page);
        Ok(())
    })
}

/// Copies the tokens that the copy does not have, and returns how many those are.
fn copy_tokens(source: &dyn Engine, copy: &dyn Engine) -> Result<usize> {
    let wanted = source.tokens()?;
    let present = copy.tokens()?;
    let mut added = 0;
    for token in wanted.iter().filter(|token| !present.contains(token)) {
        copy.add_token(token).context("cannot add a token")?;
        added += 1;
    }
    Ok(added)
}
