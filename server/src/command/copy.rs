//! `plant-store copy`: backup, restore, and a move to another place.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Result, ensure};
use nix::sys::signal::Signal::SIGXFSZ;
use signal_hook::consts::{SIGHUP, TERM_SIGNALS};
use signal_hook::flag;

use crate::store::{self, StoreUrl};

/// Copy every plant and every token to a new store, also while a server runs on the old one
///
/// The new store appears whole and synced, or not at all. It holds every plant that is in the old
/// one when the command starts. Of those that are created meanwhile, it holds some.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store to copy
    #[arg(long, value_name = "URL")]
    from: StoreUrl,

    /// Where the new store is to be; nothing may be there yet
    #[arg(long, value_name = "URL")]
    to: StoreUrl,
}

/// Copies, and publishes the copy when it is whole.
pub fn run(args: &Args) -> Result<()> {
    let Args { from, to } = args;
    // Without a handler a signal would end the process at once and leave the unfinished copy. A
    // second one does: the first is not noticed while a database blocks.
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in TERM_SIGNALS.iter().chain(&[SIGHUP]) {
        flag::register_conditional_shutdown(*signal, 1, Arc::clone(&interrupted))?;
        flag::register(*signal, Arc::clone(&interrupted))?;
    }
    // With a handler, a write past the limit on file size fails with EFBIG.
    flag::register(SIGXFSZ as i32, Arc::default())?;
    let source = store::open(from)?;
    let mut copy = store::begin(to)?;
    let tokens = source.tokens()?;
    for token in &tokens {
        copy.add_token(token)?;
    }
    let mut plants = 0;
    for page in source.plants()? {
        ensure!(!interrupted.load(Relaxed), "interrupted; the copy is gone");
        let page = page?;
        copy.add(&page)?;
        plants += page.len();
    }
    ensure!(copy.publish()?, "something else is at {to} by now; it is left as it is");
    writeln!(io::stdout(), "{from} is copied to {to}; plants: {plants}, tokens: {}", tokens.len())?;
    Ok(())
}
