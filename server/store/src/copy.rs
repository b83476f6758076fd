//! Copying a whole store to a new file or to a database.
//!
//! What is copied proves itself: the ids ascend, the rows are counted, and what was written is read
//! back. No copy replaces, changes or removes a row of its target, or a token that anybody may use.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::contents::{Contents, read_all};
use crate::engine::{Engine, Mode, Outcome};
use crate::error::{Error, Kind};
use crate::postgres::Target;
use crate::sqlite;
use crate::token::StoredToken;
use crate::url::StoreUrl;
use crate::{Names, open};

/// The deadline for committing one page to a database.
const PAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// Where the tokens of a copy come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokensFrom {
    /// The store that is copied.
    Source,
    /// Nowhere: no token is copied.
    Nowhere,
    /// Another store, of which nothing else is read.
    Store(StoreUrl),
}

/// What to copy.
#[derive(Clone, Debug)]
pub struct Copy<'a> {
    /// The names of the service to which both stores belong.
    pub names: &'static Names,
    /// The store whose rows are copied.
    pub from: &'a StoreUrl,
    /// A file that does not exist yet, or a database.
    pub to: &'a StoreUrl,
    /// The store whose tokens the copy accepts.
    pub tokens: &'a TokensFrom,
    /// Whether a database may contain rows already.
    pub may_add: bool,
    /// A PEM file with the authority that signed the certificate of a database.
    pub ca: Option<&'a Path>,
}

/// What was copied.
#[derive(Debug)]
pub struct Copied {
    /// The rows of the source.
    pub contents: Contents,
    /// The tokens that the target accepts now and did not accept before.
    pub tokens: Vec<StoredToken>,
}

/// Copies all rows of a store, and then the chosen tokens. A token that is revoked or created while
/// the rows are copied is copied as it was before.
///
/// # Errors
///
/// After an error there is no target file, unless only the sync of its folder failed. A target
/// database may contain some of the rows and none of the tokens, if the error is
/// [`Kind::CopyUnfinished`]; the same copy with `may_add` completes it.
pub fn copy(copy: &Copy<'_>) -> anyhow::Result<Copied> {
    let Copy { names, from, to, tokens, may_add, ca } = *copy;
    // Before the source is opened, which may be the same file: closing it drops SQLite's locks.
    let other_tokens = match tokens {
        TokensFrom::Store(url) => open(names, url, ca, Mode::Read)?.store.tokens()?,
        _ => Vec::new(),
    };
    let source = open(names, from, ca, Mode::Read)?.store;
    let tokens = match tokens {
        TokensFrom::Source => source.tokens()?,
        TokensFrom::Nowhere | TokensFrom::Store(_) => other_tokens,
    };
    let contents = match to {
        StoreUrl::Sqlite(to) => sqlite::copy(names, &*source, to, &tokens)?,
        StoreUrl::Postgres(url) => {
            let target = Target::open(names, url, ca)?;
            require_consent(&target, to, !tokens.is_empty(), may_add)?;
            fill(&*source, &target.store, to)
                .and_then(|contents| target.finish(&tokens).map(|()| contents).map_err(Into::into))
                .map_err(|cause| {
                    let message = format!("the copy into {to} was interrupted: {cause:#}");
                    Error::new(Kind::CopyUnfinished, message)
                })?
        }
    };
    Ok(Copied { contents, tokens })
}

/// Fails if the database has rows that nobody expects there, or accepts tokens while others are to
/// be added.
fn require_consent(
    target: &Target,
    url: &StoreUrl,
    adds_tokens: bool,
    may_add: bool,
) -> Result<(), Error> {
    let tokens = target.store.tokens()?;
    if !target.was_store {
        // Nobody has used these tokens: an interrupted copy has left them, and some may have been
        // revoked in their store since.
        tokens.iter().try_for_each(|token| target.store.revoke_token(&token.name))?;
    } else if adds_tokens && !tokens.is_empty() {
        let names: Vec<_> = tokens.iter().map(|token| token.name.as_str()).collect();
        let message = format!(
            "{url} accepts tokens already ({}), and tokens from another store might include one \
             that was revoked since",
            names.join(", ")
        );
        return Err(Error::new(Kind::HasTokens, message));
    }
    if !may_add && !target.store.page(None, 1)?.is_empty() {
        return Err(Error::new(Kind::HasRows, format!("{url} contains rows already")));
    }
    Ok(())
}

/// Copies the rows page by page. Commits each page twice: the second commit reads back what the
/// first one has written, so each of its rows must be a repeated one.
fn fill(source: &dyn Engine, target: &dyn Engine, to: &StoreUrl) -> anyhow::Result<Contents> {
    read_all(source, |page| {
        let commit = || target.commit(page, Instant::now() + PAGE_TIMEOUT);
        commit()?;
        let mut rows = page.iter().zip(commit()?);
        if let Some((row, _)) = rows.find(|(_, outcome)| *outcome != Outcome::Repeated) {
            bail!(
                "{to} contains a different row with the id {}, which is left unchanged: no copy with \
                 this id fits there",
                row.id
            );
        }
        Ok(())
    })
}
