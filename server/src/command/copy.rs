//! `plant-store copy`: copies all plants and tokens of a store to a new file or a database.

use std::path::PathBuf;

use anyhow::Result;
use plant_store_store::{self as store, StoreUrl};

use crate::command::shared::copying::{Copied, copy_all};
use crate::command::shared::output::print;
use crate::command::shared::variable;

/// Copy all plants and tokens to another store, even while a server runs on the source
///
/// The copy contains every plant that is in the source when the command starts. It may or may not
/// contain plants that are created while the command runs. A new file becomes a store only when the
/// copy is complete. If a copy to a file was interrupted, the next run refuses the file and says
/// what to do. If a copy to a database was interrupted, run the command again: it adds what is
/// missing. The command prints the digest that `check` prints for the copy.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store to copy
    #[arg(long, value_name = "URL")]
    from: StoreUrl,

    /// The destination: a file that does not exist yet, or a database to add to
    #[arg(long, value_name = "URL")]
    to: StoreUrl,

    /// PEM file with the authority that signed the certificate of the PostgreSQL server [default:
    /// the authorities that this machine trusts]
    #[arg(long, value_name = "FILE", env = variable::for_flag("store-ca"))]
    store_ca: Option<PathBuf>,
}

/// Copies the store, and prints what was copied.
pub fn run(args: &Args) -> Result<()> {
    let Args { from, to, store_ca } = args;
    let ca = store_ca.as_deref();
    let source = store::open(from, ca)?;
    let mut copied = Copied::default();
    store::fill(to, ca, &mut |copy| {
        copied = copy_all(&*source, to, copy)?;
        Ok(())
    })?;
    print(&format!("{from} was copied to {to}; {copied}\n"))
}
