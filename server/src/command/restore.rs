//! `plant-store restore`: the plants of a backup take the place of a store's own.

use std::path::PathBuf;

use anyhow::{Result, bail};
use plant_store_store::token::TokenName;
use plant_store_store::{Restored, StoreError, StoreUrl, restore};

use crate::command::shared::output::print;

/// Replace the plants of a store by the plants of a backup, while no server runs on the store
///
/// This is one transaction in the store's file: after an interruption the store has its old plants
/// or those of the backup, and the same command may be run again. The tokens of the store stay, so
/// what was revoked stays revoked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The file of the backup
    backup: PathBuf,

    /// The store, `sqlite:PATH`. No variable sets it
    #[arg(long = "store", value_name = "URL")]
    url: StoreUrl,

    /// Replace the tokens, too, by those of this store file, such as the backup. If there is no
    /// store, it is created with these tokens. Tokens that were revoked since are accepted again
    #[arg(long, value_name = "FILE")]
    tokens_of: Option<PathBuf>,
}

/// Restores the backup, and prints what has changed.
pub fn run(args: &Args) -> Result<()> {
    let url = args.url.absolute();
    let StoreUrl::Sqlite(path) = &url else {
        bail!(
            "a database is restored by its own tools, such as pg_restore. `plant-store copy` adds \
             the plants of a backup to a database"
        );
    };
    let restored = restore(path, &args.backup, args.tokens_of.as_deref());
    if let Err(missing @ StoreError::Missing(_)) = restored {
        bail!(
            "{missing}. Is its disk mounted? To create the store, name the file whose tokens it \
             gets by `--tokens-of FILE`, such as the backup"
        );
    }
    let Restored { before, gone, after, tokens } = restored?;
    let backup = args.backup.display();
    print(&format!(
        "{url} has the {after} plants of {backup}. It had {before}, of which {gone} are not in the \
         backup.\n"
    ))?;
    if let Some(file) = &args.tokens_of {
        let names: Vec<_> = tokens.iter().map(TokenName::as_str).collect();
        print(&format!("Its tokens are those of {}: {}.\n", file.display(), names.join(", ")))?;
    }
    Ok(())
}
