//! Copies all plants and tokens from one store to another, for `copy` and `backup`.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use plant_store_store::token::StoredToken;
use plant_store_store::{ContentDigest, Engine, Outcome, Row, StoreUrl};

use crate::command::shared::pages::for_each_page;

/// The deadline for committing one page to a database.
const PAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// The result of a copy.
#[derive(Default)]
pub struct Copied {
    /// The number of plants.
    pub plants: u64,
    /// The digest of the ids and the texts of the plants.
    pub digest: ContentDigest,
    /// The number of tokens that were added.
    pub tokens: usize,
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plants, digest, tokens } = self;
        write!(f, "plants: {plants}, tokens added: {tokens}, digest: {digest}")
    }
}

/// Copies every plant and every token.
pub fn copy_all(source: &dyn Engine, to: &StoreUrl, copy: &dyn Engine) -> Result<Copied> {
    let mut digest = ContentDigest::default();
    let plants = for_each_page(source, |page| {
        commit_page(page, copy).with_context(|| format!("cannot write to {to}"))?;
        digest.add(page);
        Ok(())
    })?;
    let tokens = copy_tokens(&source.tokens()?, copy)?;
    Ok(Copied { plants, digest, tokens })
}

/// Commits a page of plants to the copy. Fails if the copy contains a different plant with one of
/// the ids.
fn commit_page(page: &[Row], copy: &dyn Engine) -> Result<()> {
    let outcomes = copy.commit(page, Instant::now() + PAGE_TIMEOUT)?;
    copy.upkeep()?;
    let mut rows = page.iter().zip(outcomes);
    if let Some((row, _)) = rows.find(|(_, outcome)| *outcome == Outcome::Conflict) {
        bail!("it contains a different plant with the id {}, which is left unchanged", row.id);
    }
    Ok(())
}

/// Adds the tokens that the copy lacks, and returns their number.
///
/// Tokens are copied last: if copying the plants fails, for example because the wrong store was
/// named, the tokens are not accepted at the copy.
fn copy_tokens(tokens: &[StoredToken], copy: &dyn Engine) -> Result<usize> {
    let existing = copy.tokens()?;
    let missing: Vec<_> = tokens.iter().filter(|token| !existing.contains(token)).collect();
    for token in &missing {
        copy.add_token(token).context("cannot add a token")?;
    }
    Ok(missing.len())
}
