//! `plant-store copy`: every plant and token of a store, into a new file or a database.

use std::path::PathBuf;

use anyhow::Result;
use plant_store_store::{self as store, StoreUrl};

use crate::command::shared::copying::{Copied, copy_all};
use crate::command::shared::output::print;
use crate::command::shared::variable;

/// Copy every plant and every token to another store, also while a server runs on the first one
///
/// The copy has every plant that was in the store when the command started, and some of those that
/// are created meanwhile. A new file is a store only when the copy has ended; one that was
/// interrupted is refused, and the command says what to do. Into a database the command may be run
/// again after an interruption: it adds what is missing. It prints the digest that `check` prints
/// for the copy.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store to copy
    #[arg(long, value_name = "URL")]
    from: StoreUrl,

    /// The store to create or to add to: a file that is not there yet, or a database
    #[arg(long, value_name = "URL")]
    to: StoreUrl,

    /// PEM file with the authority of a database's certificate
    #[arg(long, value_name = "FILE", env = variable::of_flag("store-ca"))]
    store_ca: Option<PathBuf>,
}

/// Copies, and prints how much.
pub fn run(args: &Args) -> Result<()> {
    let Args { from, to, store_ca } = args;
    let ca = store_ca.as_deref();
    let source = store::open(from, ca)?;
    let mut copied = Copied::default();
    store::fill(to, ca, &mut |copy| {
        copied = copy_all(&*source, to, copy)?;
        Ok(())
    })?;
    print(&format!("{from} is copied to {to}; {copied}\n"))
}
