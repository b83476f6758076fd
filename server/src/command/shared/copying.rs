//! What is copied from one store to another: by `copy` and by `backup`.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use plant_store_store::token::StoredToken;
use plant_store_store::{ContentDigest, Engine, Outcome, Row, StoreUrl};

use crate::command::shared::pages::for_each_page;

/// How long a database may take for a page.
const PAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// What was copied.
#[derive(Default)]
pub struct Copied {
    /// How many plants.
    pub plants: u64,
    /// The digest of the ids and the texts of the plants.
    pub digest: ContentDigest,
    /// How many tokens were added.
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
        add(page, copy).with_context(|| format!("cannot write to {to}"))?;
        digest.add(page);
        Ok(())
    })?;
    let tokens = copy_tokens(&source.tokens()?, copy)?;
    Ok(Copied { plants, digest, tokens })
}

/// Adds plants to the copy, which must not have different plants under their ids.
fn add(page: &[Row], copy: &dyn Engine) -> Result<()> {
    let outcomes = copy.commit(page, Instant::now() + PAGE_TIMEOUT)?;
    copy.upkeep()?;
    let mut rows = page.iter().zip(outcomes);
    if let Some((row, _)) = rows.find(|(_, outcome)| *outcome == Outcome::Conflict) {
        bail!("it has a different plant under the id {}, which is left as it is", row.id);
    }
    Ok(())
}

/// Adds the tokens that the copy does not have, and returns how many. They come last: after a
/// failure nobody can use the tokens of a store that was copied by mistake.
fn copy_tokens(tokens: &[StoredToken], copy: &dyn Engine) -> Result<usize> {
    let there = copy.tokens()?;
    let missing: Vec<_> = tokens.iter().filter(|token| !there.contains(token)).collect();
    for token in &missing {
        copy.add_token(token).context("cannot add a token")?;
    }
    Ok(missing.len())
}
