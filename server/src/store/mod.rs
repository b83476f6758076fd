//! Where plants and token digests are kept, and what every engine promises.
//!
//! [`open`] and [`create`] turn a [`StoreUrl`] into an [`Engine`]; nobody outside this module
//! knows which one. [`GroupCommit`] puts the creates of all requests through the engine's one
//! [`Writer`]. Nothing here knows about HTTP, and nothing here ever sees a token, only digests.

mod group_commit;
mod sqlite;
mod url;

use std::io;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::api::NewPlant;
use crate::token::TokenDigest;

pub use group_commit::{CreateError, GroupCommit, WriterEnd, WriterFailed};
pub use url::{InvalidStoreUrl, StoreUrl};

/// A store of plants, and of the digests of the tokens that may create them.
///
/// Every engine promises, whatever process or machine dies at whatever moment:
///
/// - **Durable.** What [`Writer::commit`] reports as created or repeated outlives a power cut.
/// - **Exactly once.** A plant is there or not: never in part, never twice.
/// - **First write wins.** An id belongs for ever to the first plant committed under it.
/// - **Byte-exact.** Names and tags come back as they came, the empty string and U+0000 included,
///   and an absent tag is not an empty one.
///
/// All calls block; call them where that is allowed. Any number of processes may have the same
/// store open.
pub trait Engine: Send + Sync {
    /// The one way in for plants.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] where the engine cannot promise durability.
    fn writer(&self) -> Result<Box<dyn Writer>, StoreError>;

    /// The plants as they are at this moment, whatever is written meanwhile.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`].
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// Every token, expired ones included, in the order of their names.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`].
    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError>;

    /// Keeps a new token; durable when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::TokenNameTaken`], or [`StoreError::Failed`].
    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError>;

    /// Forgets the token of that name; durable when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchToken`], or [`StoreError::Failed`].
    fn revoke_token(&self, name: &str) -> Result<(), StoreError>;
}

/// Commits plants. There is one for each open store, driven by [`GroupCommit`].
pub trait Writer: Send {
    /// Commits the plants in one transaction and returns an outcome for each, in their order.
    /// Plants of one batch meet each other in that order, as if committed one by one.
    ///
    /// # Errors
    ///
    /// [`CommitError`]: none of the batch may be answered with success.
    fn commit(&mut self, plants: &[NewPlant]) -> Result<Vec<Outcome>, CommitError>;

    /// Upkeep that nobody's answer has to wait for; called after each answered batch.
    ///
    /// # Errors
    ///
    /// [`CommitError`], as for a commit; what was committed before stays durable.
    fn maintain(&mut self) -> Result<(), CommitError>;
}

/// A consistent view of all plants.
pub trait Snapshot {
    /// How many plants there are. May read the whole store.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`].
    fn count(&self) -> Result<u64, StoreError>;

    /// Visits every plant in the order of the ids, one in memory at a time.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`], or the visitor's own error as [`StoreError::Visit`].
    fn visit(&self, visitor: &mut dyn FnMut(NewPlant) -> io::Result<()>) -> Result<(), StoreError>;
}

/// What became of one plant of a committed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its id was free.
    Created,
    /// The very same plant was there already: the client may be told so once more.
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
    /// A sync failed. The kernel may have dropped the very pages that the next sync would call
    /// clean, so trying again would prove nothing: the writer must not be used again. A restart
    /// reads what really is on the disk.
    #[error("a sync failed: {0}")]
    SyncFailed(Cause),
}

/// Why a store cannot be opened or used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is nothing at the URL.
    #[error("there is no plant store at {0}; `plant-store serve` creates one")]
    Missing(StoreUrl),
    /// There is something, which is left as it is.
    #[error("{0} is not a plant store")]
    NotAPlantStore(StoreUrl),
    /// A later release wrote it.
    #[error(
        "{url} has schema version {found}, and this release knows {known}: \
         use the release that wrote it, or a later one"
    )]
    NewerSchema {
        /// The store.
        url: StoreUrl,
        /// Its schema version.
        found: u32,
        /// The newest schema version that this release knows.
        known: u32,
    },
    /// The engine's own reason.
    #[error("cannot {doing}: {cause}")]
    Failed {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        cause: Cause,
    },
    /// A name stands for one token.
    #[error("there is a token named {0:?} already: revoke it, or choose another name")]
    TokenNameTaken(String),
    /// No token has that name.
    #[error("there is no token named {0:?}")]
    NoSuchToken(String),
    /// A snapshot's visitor gave up.
    #[error(transparent)]
    Visit(io::Error),
}

/// An engine's error, whichever engine it is: for people and logs.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What a store keeps of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// Unique among the tokens of the store.
    pub name: String,
    /// The SHA-256 of the token.
    pub digest: TokenDigest,
    /// The first characters of the token, to tell it from others.
    pub first_characters: String,
    /// When it was issued, to the second.
    pub created_at: DateTime<Utc>,
    /// From when on it is refused, to the second; never, where there is none.
    pub expires_at: Option<DateTime<Utc>>,
}

/// Opens the store that is there.
///
/// # Errors
///
/// [`StoreError`]; nothing is created or changed then.
pub fn open(url: &StoreUrl) -> Result<Arc<dyn Engine>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => Ok(Arc::new(sqlite::Sqlite::open(path)?)),
    }
}

/// Creates an empty store, whole or not at all, unless something is there already. Whether this
/// call was the one that created it.
///
/// # Errors
///
/// [`StoreError::Failed`]; then there is no store, or a whole one whose name is not durable yet.
pub fn create(url: &StoreUrl) -> Result<bool, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::create(path),
    }
}
