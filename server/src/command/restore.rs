//! `plant-store restore`: replaces the plants of a store with the plants of a backup.

use std::path::PathBuf;

use anyhow::{Result, bail};
use plant_store_store::token::TokenName;
use plant_store_store::{Restored, StoreError, StoreUrl, restore};

use crate::command::shared::output::print;

/// Replace the plants of a store with the plants of a backup, while no server runs on the store
///
/// The restore is one transaction in the file of the store. After an interruption, the store
/// contains either its old plants or the plants of the backup, and you can run the same command
/// again. The tokens of the store are kept, so revoked tokens stay revoked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The file of the backup
    backup: PathBuf,

    /// The store, `sqlite:PATH`. This flag has no environment variable
    #[arg(long = "store", value_name = "URL")]
    url: StoreUrl,

    /// Also replace the tokens with the tokens of this store file, such as the backup. If the store
    /// does not exist, it is created with these tokens. Tokens that have been revoked since the
    /// backup are accepted again
    #[arg(long, value_name = "FILE")]
    tokens_of: Option<PathBuf>,
}

/// Restores the backup, and prints what changed.
pub fn run(args: &Args) -> Result<()> {
    let url = args.url.absolute();
    let StoreUrl::Sqlite(path) = &url else {
        bail!(
            "restore a PostgreSQL database with its own tools, such as pg_restore. \
             `plant-store copy` adds the plants of a backup to a database"
        );
    };
    let restored = restore(path, &args.backup, args.tokens_of.as_deref());
    if let Err(missing @ StoreError::Missing(_)) = restored {
        bail!(
            "{missing}. Is its disk mounted? To create the store, pass the file that contains its \
             tokens, such as the backup, with `--tokens-of FILE`"
        );
    }
    let Restored { before, gone, after, tokens } = restored?;
    let backup = args.backup.display();
    print(&format!(
        "restored {backup} into {url}. Plants before: {before}, not in the backup: {gone}, now: \
         {after}.\n"
    ))?;
    if let Some(file) = &args.tokens_of {
        let names: Vec<_> = tokens.iter().map(TokenName::as_str).collect();
        let names = names.join(", ");
        print(&format!("It now accepts the tokens of {}: {names}.\n", file.display()))?;
    }
    Ok(())
}
