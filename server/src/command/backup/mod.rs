//! `plant-store backup`: copies the store to a dedicated folder and removes old backups, without
//! supervision.
//!
//! The command must never remove a file that it has not created, nor the backup that it has just
//! made, regardless of the clock and of file names. Therefore the folder contains a list of its
//! backups.

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

/// Back up the store to a folder, even while a server runs on it
///
/// A backup is a store file whose name contains the time. It is read back and compared with the
/// store. Only then are older backups removed, and only backups that this command has made. If the
/// store has fewer plants than at the last backup, the new backup is kept, no backup is removed,
/// and the exit code is 1.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The backup folder, initialized for this store with --init
    folder: PathBuf,

    /// Initialize the folder for this store, and make no backup
    #[arg(long)]
    init: bool,

    /// Number of backups to keep
    #[arg(long, value_name = "COUNT", default_value = "30")]
    keep: NonZeroUsize,

    /// Accept that the store has fewer plants than at the last backup, such as after a restore
    #[arg(long)]
    fewer: bool,

    /// Write the time of the backup to this file, for the textfile collector of node_exporter
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,

    #[command(flatten)]
    store: StoreArgs,
}

/// Makes a backup or initializes the folder.
pub fn run(args: &Args) -> Result<()> {
    let store = args.store.url.absolute();
    if matches!(store, StoreUrl::Postgres(_)) {
        bail!("back up a PostgreSQL database with its own tools, such as pg_dump or pg_basebackup");
    }
    if args.init {
        args.store.open()?;
        Folder::init(&args.folder, &store)?;
        let folder = args.folder.display();
        return print(&format!("{folder} is the backup folder of {store}\n"));
    }
    let mut folder = Folder::open(&args.folder, &store)?;
    let backup = folder.begin_backup()?;
    let copied = copy_into(&args.store, &StoreUrl::Sqlite(backup.clone()))
        .context("no backup was made and none was removed; fix the cause and run it again")?;
    folder.finish_backup()?;
    let made = format!("the backup {} is complete; {copied}", backup.display());
    let before = folder.plants();
    ensure!(
        copied.plants >= before || args.fewer,
        "{made}. The store had {before} plants at the last backup, so no older backup was removed. \
         If fewer plants are expected, such as after a restore, run `plant-store backup --fewer` \
         once"
    );
    finish(args, &mut folder, &copied).with_context(|| made.clone())?;
    print(&format!("{made}\n"))
}

/// Copies the whole store to a new file, reads the file back, and compares the two.
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
        "{to} does not contain the plants and tokens that were copied: check its disk"
    );
    Ok(copied)
}

/// Accepts a complete backup: removes old backups, and writes the time.
fn finish(args: &Args, folder: &mut Folder, copied: &Copied) -> Result<()> {
    folder.accept(copied.plants, args.keep)?;
    match &args.metrics {
        Some(file) => write_time(file, &args.store.url.absolute()),
        None => Ok(()),
    }
}

/// Writes the time of the last backup to the file. A file with other content is left unchanged,
/// because it may belong to another store.
fn write_time(file: &Path, store: &StoreUrl) -> Result<()> {
    // The escapes of a label value
    // (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
    let store = store.to_string().replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
    let series = format!("{METRICS}_backup_timestamp_seconds{{store=\"{store}\"}}");
    let cannot = || format!("cannot write the time of the backup to {}", file.display());
    let file = &absolute(file).with_context(cannot)?;
    let existing = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        result => result.with_context(cannot)?,
    };
    ensure!(
        existing.is_empty() || existing.contains(&series),
        "{}: it has other content, such as the time of another store",
        cannot()
    );
    let text = format!(
        "# HELP {METRICS}_backup_timestamp_seconds Unix time of the last backup.\n\
         # TYPE {METRICS}_backup_timestamp_seconds gauge\n\
         {series} {}\n",
        Utc::now().timestamp()
    );
    // The collector runs as another user, and must be able to read the file.
    replace(file, &text, 0o644).with_context(cannot)
}
