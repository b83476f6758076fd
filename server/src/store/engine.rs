//! What every engine promises, and how it fails.
//!
//! Nothing here knows an engine.

use std::io;

use crate::store::url::StoreUrl;
use crate::token::{StoredToken, TokenName};
use crate::types::NewPlant;

/// A store of plants, and of the digests of the tokens that may create them.
///
/// Every engine promises, even if a process or the machine stops at any moment:
///
/// - **Durable.** What [`Writer::commit`] reports as created or repeated survives a power cut.
/// - **Exactly once.** A plant is there or not: never in part, never twice.
/// - **First write wins.** An id always belongs to the first plant committed under it.
/// - **Byte-exact.** Names and tags come back as they came, the empty string and U+0000 included,
///   and an absent tag is not an empty one.
///
/// All calls block the thread. Any number of processes may have the same store open.
pub trait Engine: Send + Sync {
    /// The writer, which is the only way to add plants.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] also where the engine cannot promise durability.
    fn writer(&self) -> Result<Box<dyn Writer>, StoreError>;

    /// The plants as they are at this moment, unchanged by later writes.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// Every token, expired ones included, in the order of their names.
    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError>;

    /// Keeps a new token; durable when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::TokenNameTaken`], or [`StoreError::Failed`].
    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError>;

    /// Removes the token of that name; durable when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchToken`], or [`StoreError::Failed`].
    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError>;
}

/// Commits plants. There is one for each open store, driven by [`GroupCommit`].
///
/// [`GroupCommit`]: crate::store::GroupCommit
pub trait Writer: Send {
    /// Commits the plants in one transaction and returns an outcome for each, in their order.
    /// The outcomes are the same as if the plants were committed one by one.
    ///
    /// # Errors
    ///
    /// No plant of the batch may be answered with success then.
    fn commit(&mut self, plants: &[NewPlant]) -> Result<Vec<Outcome>, CommitError>;

    /// Upkeep, such as checkpoints. Called after each answered batch, so no answer waits for it.
    ///
    /// # Errors
    ///
    /// As for a commit. What was committed before stays durable.
    fn maintain(&mut self) -> Result<(), CommitError>;
}

/// A consistent view of all plants.
pub trait Snapshot {
    /// How many plants there are. May read the whole store.
    fn count(&self) -> Result<u64, StoreError>;

    /// Visits every plant in the order of the ids, one in memory at a time.
    ///
    /// # Errors
    ///
    /// [`StoreError::Visit`] is the visitor's own error.
    fn visit(&self, visitor: &mut dyn FnMut(NewPlant) -> io::Result<()>) -> Result<(), StoreError>;
}

/// What became of one plant of a committed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its id was free.
    Created,
    /// The very same plant was there already; the client may get the same answer again.
    Repeated,
    /// Its id belongs to a different plant, which is untouched.
    Conflict,
}

/// Why a batch was not committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Nothing was written, and the reason may pass: a full disk, a lock held too long.
    #[error("the store does not take writes: {0}")]
    Unavailable(Cause),
    /// The engine failed in a way that does not pass by itself.
    #[error("the store failed: {0}")]
    Fault(Cause),
    /// An fsync failed. The kernel may have marked the lost pages clean, so the next fsync can
    /// succeed without writing them: the writer must not be used again. A restart reads what
    /// really is on the disk.
    #[error("a sync failed: {0}")]
    SyncFailed(Cause),
}

/// Why a store cannot be opened or used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("there is no plant store at {0}; `plant-store serve` creates one")]
    Missing(StoreUrl),
    #[error("{0} is not a plant store")]
    NotAPlantStore(StoreUrl),
    #[error(
        "{url} has schema version {found}, and this release needs {needed}: \
         `plant-store serve` brings it up to date"
    )]
    OlderSchema { url: StoreUrl, found: u32, needed: u32 },
    #[error(
        "{url} has schema version {found}, and this release knows {known}: \
         use the release that wrote it, or a later one"
    )]
    NewerSchema { url: StoreUrl, found: u32, known: u32 },
    #[error("cannot {doing}: {cause}")]
    Failed { doing: &'static str, cause: Cause },
    #[error("there is a token named \"{0}\" already: revoke it, or choose another name")]
    TokenNameTaken(TokenName),
    #[error("there is no token named \"{0}\"")]
    NoSuchToken(TokenName),
    /// A snapshot's visitor gave up.
    #[error(transparent)]
    Visit(io::Error),
}

/// An engine's error, whichever engine it is: for people and logs.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;
