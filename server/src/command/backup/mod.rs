//! `plant-store backup`: a copy of the store in a folder of its own, which nobody has to look
//! after.
//!
//! It removes no file that it has not made, and never the one that it has just made, whatever the
//! clock and the names say: the folder has a list of its backups.

mod folder;

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, ensure};
use chrono::Utc;
use plant_store_store::StoreUrl;

use crate::command::backup::folder::{Folder, remove};
use crate::command::copying::{Copied, copy_into};
use crate::command::shared::output::print;
use crate::command::shared::store_args::StoreArgs;

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
    if args.init {
        args.store.open_to_read()?;
        Folder::begin(&args.folder, &store)?;
        return print(&format!("{} takes the backups of {store}\n", args.folder.display()));
    }
    let mut folder = Folder::open(&args.folder, &store)?;
    let copied = copy_into(&args.store, &StoreUrl::Sqlite(folder.unfinished()))
        .context("no backup is made, and none is removed; mend the cause and run it again")?;
    let backup = folder.add()?;
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

/// What comes when the backup is there.
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
    let series = format!("plant_store_backup_timestamp_seconds{{store=\"{store}\"}}");
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
        "# HELP plant_store_backup_timestamp_seconds When the last backup was made, in Unix time.\n\
         # TYPE plant_store_backup_timestamp_seconds gauge\n\
         {series} {}\n",
        Utc::now().timestamp()
    );
    // The collector reads files that end in `.prom`, and must not read half a file.
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".unfinished");
    // A backup that was killed has left it.
    remove(&file.with_file_name(&name)).with_context(cannot)?;
    let mut new = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o644))
        .prefix(&name)
        .rand_bytes(0)
        .tempfile_in(file.parent().unwrap_or(Path::new("/")))
        .with_context(cannot)?;
    new.write_all(text.as_bytes()).with_context(cannot)?;
    new.persist(file).with_context(cannot)?;
    Ok(())
}
