//! `copy`: copies the rows of a store to a new file or a database.

use std::path::PathBuf;

use anyhow::{Context, Result};
use groundwork_store::{self as store, Copied, StoreUrl, TokensFrom};

use crate::command::shared::print;
use crate::service::Service;

/// Copy the {resources} of a store to a new file or a database, even while a server runs on the
/// source
///
/// This is how to back up, restore and move a store. The copy contains every {resource} that is in
/// the source when the command starts, is read back, and has the digest that `check` prints for the
/// source. A file is complete or not there: a copy that was killed leaves at most a temporary file,
/// whose name contains `unfinished-copy` and which may be deleted. A copy to a database that was
/// interrupted is completed by the same command with --add.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store to copy: {store_url}
    #[arg(long, value_name = "URL")]
    from: StoreUrl,

    /// The destination: a file that does not exist yet, or a database
    #[arg(long, value_name = "URL")]
    to: StoreUrl,

    /// The tokens that the copy accepts: those of the source (`from`), none, or those of another
    /// store, such as the one that the copy replaces. Tokens that were revoked after that store was
    /// written are accepted again
    #[arg(long, value_name = "from|none|URL", value_parser = tokens_from)]
    tokens: TokensFrom,

    /// Add the {resources} to a database that has {resources} already
    #[arg(long)]
    add: bool,

    /// PEM file with the authority that signed the certificate of the PostgreSQL server [default:
    /// the authorities that this machine trusts]
    #[arg(long, value_name = "FILE", env = "STORE_CA")]
    store_ca: Option<PathBuf>,
}

/// Copies the store, and prints what was copied.
pub fn run(service: &'static Service, args: &Args) -> Result<()> {
    let Args { from, to, tokens, add, store_ca } = args;
    let names = &service.names;
    let copy = store::Copy { names, from, to, tokens, may_add: *add, ca: store_ca.as_deref() };
    let copied = store::copy(&copy).with_context(|| format!("cannot copy {from} to {to}"))?;
    let Copied { contents, tokens } = copied;
    print(&format!(
        "{from} was copied to {to}; {}: {}, tokens: {}, digest: {}\n",
        names.table,
        contents.rows,
        tokens.len(),
        contents.digest()
    ))?;
    for token in tokens {
        let mark = if token.has_expired() { " (expired)" } else { "" };
        print(&format!("{to} accepts the token {}{mark}\n", token.name))?;
    }
    Ok(())
}

fn tokens_from(text: &str) -> Result<TokensFrom, String> {
    match text {
        "from" => Ok(TokensFrom::Source),
        "none" => Ok(TokensFrom::Nowhere),
        url => {
            let parsed = url.parse().map(TokensFrom::Store);
            parsed
                .map_err(|error| format!("expected `from`, `none` or the URL of a store: {error}"))
        }
    }
}
