//! `plant-store backup`: a copy of the store in a folder of its own, which nobody has to look
//! after.
//!
//! It removes no file that it has not made, and never the one that it has just made, whatever the
//! clock and the names say: the folder has a list of its backups.

mod files;
mod folder;

use std::fs;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, bail, ensure};
use chrono::Utc;
use plant_store_store::{self as store, StoreUrl};

use crate::command::backup::files::replace;
use crate::command::backup::folder::Folder;
use crate::command::shared::copying::{Copied, copy_all};
use crate::command::shared::output::print;
use crate::command::shared::store_args::StoreArgs;
use crate::command::shared::verdict::Verdict;
use crate::names::METRICS;

/// Make a backup of the store in a folder, also while a server runs on it
///
/// The backup is a store in a file, with its time as its name. It is read back and compared; only
/// then are older ones removed, and none that this command has not made. If the store has fewer
/// plants than at the last backup, the new one stays, none is removed, and the exit status is 1.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder of the backups, which --init has begun for this store
    folder: PathBuf,

    /// Begin the folder for this store, and make no backup
    #[arg(long)]
    init: bool,

    /// How many backups stay
    #[arg(long, value_name = "COUNT", default_value = "30")]
    keep: NonZeroUsize,

    /// Accept that the store has fewer plants than at the last backup, such as after a restore
    #[arg(long)]
    fewer: bool,

    /// Write the time of the backup into this file, for the textfile collector of node_exporter
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,

    #[command(flatten)]
    store: StoreArgs,
}

/// Makes a backup, or begins the folder.
pub fn run(args: &Args) -> Result<()> {
    let store = args.store.url.absolute();
    if matches!(store, StoreUrl::Postgres(_)) {
        bail!("a database is backed up by its own tools, such as pg_dump or pg_basebackup");
    }
    if args.init {
        args.store.open()?;
        Folder::begin(&args.folder, &store)?;
        return print(&format!("{} takes the backups of {store}\n", args.folder.display()));
    }
    let mut folder = Folder::open(&args.folder, &store)?;
    let backup = folder.begin_backup()?;
    let copied = copy_into(&args.store, &StoreUrl::Sqlite(backup.clone()))
        .context("no backup is made, and none is removed; mend the cause and run it again")?;
    folder.finish_backup()?;
    let made = format!("the backup {} is made; {copied}", backup.display());
    let before = folder.plants();
    ensure!(
        copied.plants >= before || args.fewer,
        "{made}. The store had {before} plants at the last backup, so no older backup is removed. \
         If fewer are right, such as after a restore, run `plant-store backup --fewer` once"
    );
    finish(args, &mut folder, &copied).with_context(|| made.clone())?;
    print(&format!("{made}\n"))
}

/// Copies the whole store into a new file, reads the file back, and compares.
fn copy_into(from: &StoreArgs, to: &StoreUrl) -> Result<Copied> {
    let source = from.open()?;
    let mut copied = Copied::default();
    store::fill(to, None, &mut |copy| {
        copied = copy_all(&*source, to, copy)?;
        Ok(())
    })?;
    let read_back = StoreArgs { url: to.clone(), ca: None };
    let contents = Verdict::of(&read_back).require_sound(&read_back)?;
    ensure!(
        contents.digest == copied.digest.to_string() && contents.tokens == copied.tokens,
        "{to} does not contain what was copied: is its disk sound?"
    );
    Ok(copied)
}

/// What follows when the backup is there.
fn finish(args: &Args, folder: &mut Folder, copied: &Copied) -> Result<()> {
    folder.accept(copied.plants, args.keep)?;
    match &args.metrics {
        Some(file) => write_time(file, &args.store.url.absolute()),
        None => Ok(()),
    }
}

/// Says in that file when the last backup was made. A file that says something else is left as it
/// is: it may be that of another store.
fn write_time(file: &Path, store: &StoreUrl) -> Result<()> {
    // As the format escapes the value of a label
    // (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
    let store = store.to_string().replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
    let series = format!("{METRICS}_backup_timestamp_seconds{{store=\"{store}\"}}");
    let cannot = || format!("cannot write its time to {}", file.display());
    let file = &absolute(file).with_context(cannot)?;
    let there = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        there => there.with_context(cannot)?,
    };
    ensure!(
        there.is_empty() || there.contains(&series),
        "{}: there is something else in it, such as the time of another store",
        cannot()
    );
    let text = format!(
        "# HELP {METRICS}_backup_timestamp_seconds When the last backup was made, in Unix time.\n\
         # TYPE {METRICS}_backup_timestamp_seconds gauge\n\
         {series} {}\n",
        Utc::now().timestamp()
    );
    // The collector reads files that end in `.prom`, also those of other users.
    replace(file, &text, 0o644).with_context(cannot)
}
