//! `plant-store copy`: backup, restore, and a move to another machine or engine.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use plant_store_store::{self as store, Engine, StoreUrl};

use crate::command::copying::{Copied, copy_all, copy_tokens};
use crate::command::salvage::{nothing_of, open_damaged, salvage};
use crate::command::shared::output::print;
use crate::command::shared::variable;

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

    /// Copy what can be read of a damaged store, and say which ids are missing. If anything is, the
    /// exit status is 1
    #[arg(long)]
    damaged: bool,
}

/// Copies, and prints how much.
pub fn run(args: &Args) -> Result<()> {
    let Args { from, to, store_ca, damaged } = args;
    let ca = store_ca.as_deref();
    let source = if *damaged { open_damaged(from, ca)? } else { store::open_to_read(from, ca)? };
    for file in store::unfinished(to) {
        let said = "left by a copy that was killed, or another copy runs; if none does, delete it";
        let _ = writeln!(io::stderr(), "plant-store: {}: {said}", file.display());
    }
    let mut said = String::new();
    let mut is_whole = true;
    store::fill(to, ca, &mut |copy| {
        if *damaged {
            let readable = copy_readable(args, &*source, copy)?;
            is_whole = readable.is_whole;
            said = readable.said;
        } else {
            said = copy_all(&*source, to, copy)?.to_string();
        }
        Ok(())
    })?;
    let said = format!("{from} is copied to {to}; {said}");
    ensure!(is_whole, said);
    print(&format!("{said}\n"))
}

/// What was copied of a damaged store.
struct Readable {
    said: String,
    /// Whether nothing is missing.
    is_whole: bool,
}

/// Copies what can be read.
fn copy_readable(args: &Args, source: &dyn Engine, copy: &dyn Engine) -> Result<Readable> {
    let mut copied = Copied::default();
    let unread = salvage(source, |page| copied.add(page, &args.to, copy))?;
    let tokens = source.tokens();
    copied.tokens = copy_tokens(tokens.as_deref().unwrap_or_default(), copy)?;
    let is_whole = unread.is_empty() && tokens.is_ok();
    let missing = format!("{copied}; missing: {unread}");
    let said = match tokens {
        Ok(_) => missing,
        Err(cause) if copied.plants == 0 => return Err(nothing_of(&args.from, &cause.into())),
        Err(cause) => format!("{missing}; its tokens are missing: {cause}"),
    };
    Ok(Readable { said, is_whole })
}
