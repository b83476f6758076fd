//! `plant-store copy`: backup, restore, and a move to another place.

use std::io::Write;

use anyhow::{Result, ensure};
use indicatif::ProgressBar;

use crate::command::interruption::Interruption;
use crate::command::progress;
use crate::command::stdout::stdout;
use crate::command::tally::Tally;
use crate::store::{self, Contents, StoreUrl};
use crate::token::StoredToken;
use crate::types::NewPlant;

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

/// Copies, reads the copy back, and publishes it if the two are the same.
pub fn run(args: &Args) -> Result<()> {
    let Args { from, to } = args;
    let interruption = Interruption::handle()?;
    let source = store::open(from)?;
    let mut copy = store::begin(to)?;
    copy.unfinished().inspect(|file| interruption.removes(file));
    let bar = progress::of_plants(&*source)?;

    bar.set_message("copying ");
    let tokens = source.tokens()?;
    for token in &tokens {
        copy.add_token(token)?;
    }
    let sent = walk(&*source, &tokens, &bar, &interruption, |page| Ok(copy.add(page)?))?;
    bar.set_message("checking ");
    bar.set_position(0);
    let found = walk(&*copy, &copy.tokens()?, &bar, &interruption, |_| Ok(()))?;
    bar.finish_and_clear();

    ensure!(sent == found, "{from} has {sent}, and the copy {found}; nothing is at {to}");
    ensure!(copy.publish()?, "something else is at {to} by now; it is left as it is");
    writeln!(stdout(), "{from}: {sent}\n{to}: {found}")?;
    Ok(())
}

/// Visits every page of plants, and counts all that is there.
fn walk(
    contents: &dyn Contents,
    tokens: &[StoredToken],
    bar: &ProgressBar,
    interruption: &Interruption,
    mut visit: impl FnMut(&[NewPlant]) -> Result<()>,
) -> Result<Tally> {
    let mut tally = Tally::of(tokens);
    for page in contents.plants()? {
        interruption.check()?;
        let page = page?;
        visit(&page)?;
        tally.add_plants(&page);
        bar.inc(page.len() as u64);
    }
    Ok(tally)
}
