//! `plant-store copy`: backup, restore, and a move to another place.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use plant_store_store::{self as store, Outcome, StoreUrl};

use crate::command::common::{for_each_page, of_store, print};

/// Copy every plant and every token to another store, also while a server runs on the first one
///
/// The copy holds every plant that was in the store when the command started. Of those that are
/// created meanwhile, it holds some. A file appears whole and synced, or not at all. Into a database
/// the command may be run again after an interruption: it adds what is missing.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store to copy
    #[arg(long, value_name = "URL")]
    from: StoreUrl,

    /// Where the copy is to be: a file that is not there yet, or a database
    #[arg(long, value_name = "URL")]
    to: StoreUrl,

    /// PEM file with the authority of a database's certificate
    #[arg(long, value_name = "FILE", env = "PLANT_STORE_STORE_CA")]
    store_ca: Option<PathBuf>,
}

/// Copies, and prints how much.
pub fn run(Args { from, to, store_ca }: &Args) -> Result<()> {
    let ca = store_ca.as_deref();
    let source = store::open(from, ca).map_err(of_store(from))?;
    for file in store::unfinished(to) {
        let said = "left by a copy that was killed, or another copy runs; if none does, delete it";
        let _ = writeln!(io::stderr(), "plant-store: {}: {said}", file.display());
    }
    let (mut plants, mut tokens) = (0, 0);
    store::fill(to, ca, &mut |copy| {
        for_each_page(from, &*source, |page| {
            // A database may take a minute for a page.
            let outcomes = copy.commit(page, Instant::now() + Duration::from_mins(1))?;
            copy.upkeep()?;
            if let Some(at) = outcomes.iter().position(|outcome| *outcome == Outcome::Conflict) {
                let id = page[at].id;
                bail!("{to} has a different plant under the id {id}: it is left as it is");
            }
            plants += page.len();
            Ok(())
        })?;
        // Last: after a failure nobody can use the tokens of a store that was copied by mistake.
        let (kept, there) = (source.tokens().map_err(of_store(from))?, copy.tokens()?);
        for token in kept.iter().filter(|token| !there.contains(token)) {
            copy.add_token(token).context("cannot add a token")?;
            tokens += 1;
        }
        Ok(())
    })
    .map_err(of_store(to))?;
    print(&format!("{from} is copied to {to}; plants: {plants}, tokens added: {tokens}\n"))
}
