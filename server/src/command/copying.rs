//! What is copied from one store to another: by `copy`, `backup` and `restore`.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use plant_store_store::token::StoredToken;
use plant_store_store::{self as store, ContentDigest, Engine, Outcome, Row, StoreUrl};

use crate::command::check;
use crate::command::shared::pages::for_each_page;
use crate::command::shared::store_args::StoreArgs;

/// How long a database may take for a page.
const PAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// What was copied.
#[derive(Default)]
pub struct Copied {
    /// How many plants.
    pub plants: usize,
    /// Of the ids and the texts of the plants.
    pub digest: ContentDigest,
    /// How many tokens were added.
    pub tokens: usize,
}

impl Copied {
    /// Every plant of a store that was filled.
    pub fn all_of(store: &dyn Engine) -> Result<Self> {
        let mut all = Self::default();
        for_each_page(store, |page| {
            all.plants += page.len();
            all.digest.add(page);
            Ok(())
        })?;
        Ok(all)
    }

    /// Adds plants to the copy, which must not have other ones under their ids.
    pub fn add(&mut self, page: &[Row], to: &StoreUrl, copy: &dyn Engine) -> Result<()> {
        let outcomes = commit(page, copy).with_context(|| format!("cannot write to {to}"))?;
        let mut rows = page.iter().zip(outcomes);
        if let Some((row, _)) = rows.find(|(_, outcome)| *outcome == Outcome::Conflict) {
            let id = row.id;
            bail!("{to} has a different plant under the id {id}: it is left as it is");
        }
        self.plants += page.len();
        self.digest.add(page);
        Ok(())
    }
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plants, digest, tokens } = self;
        write!(f, "plants: {plants}, tokens added: {tokens}, digest: {digest}")
    }
}

/// Copies the whole store into a new file, reads the file back, and compares.
pub fn copy_into(from: &StoreArgs, to: &StoreUrl) -> Result<Copied> {
    let source = from.open_to_read()?;
    let mut copied = Copied::default();
    store::fill(to, None, &mut |copy| {
        copied = copy_all(&*source, to, copy)?;
        Ok(())
    })?;
    let there = check::sound(&StoreArgs { url: to.clone(), ca: None })?;
    ensure!(
        there.digest == copied.digest.to_string() && there.tokens == copied.tokens,
        "{to} does not hold what was copied: is its disk sound?"
    );
    Ok(copied)
}

/// Copies every plant and every token.
pub fn copy_all(source: &dyn Engine, to: &StoreUrl, copy: &dyn Engine) -> Result<Copied> {
    let plants = copy_plants(source, to, copy)?;
    let tokens = copy_tokens(&source.tokens()?, copy)?;
    Ok(Copied { tokens, ..plants })
}

/// Copies every plant.
pub fn copy_plants(source: &dyn Engine, to: &StoreUrl, copy: &dyn Engine) -> Result<Copied> {
    let mut copied = Copied::default();
    for_each_page(source, |page| copied.add(page, to, copy))?;
    Ok(copied)
}

/// Adds plants, and returns what became of each.
pub fn commit(page: &[Row], copy: &dyn Engine) -> Result<Vec<Outcome>> {
    let outcomes = copy.commit(page, Instant::now() + PAGE_TIMEOUT)?;
    copy.upkeep()?;
    Ok(outcomes)
}

/// Adds the tokens that the copy does not have, and returns how many those are. They come last:
/// after a failure nobody can use the tokens of a store that was copied by mistake.
pub fn copy_tokens(tokens: &[StoredToken], copy: &dyn Engine) -> Result<usize> {
    let there = copy.tokens()?;
    let missing: Vec<_> = tokens.iter().filter(|token| !there.contains(token)).collect();
    for token in &missing {
        copy.add_token(token).context("cannot add a token")?;
    }
    Ok(missing.len())
}
