//! What every engine promises, and how it fails.
//!
//! Nothing here knows an engine.

use std::time::Instant;

use crate::store::url::StoreUrl;
use crate::token::{StoredToken, TokenName};
use crate::types::NewPlant;

/// What can be read of a store.
pub trait Contents {
    /// How many plants there are. May read the whole store.
    fn count(&self) -> Result<u64, StoreError>;

    /// The plants in the order of their ids. Every plant that is in the store now is among them; of
    /// those that are created meanwhile, some are. A plant never changes, so each is whole.
    fn plants(&self) -> Result<Pages<'_>, StoreError>;

    /// Every token, expired ones included, in the order of their names.
    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError>;
}

/// Plants, a page at a time. A file is not held between two pages, so a reader may be as slow as it
/// likes; a database keeps a snapshot for it.
pub type Pages<'a> = Box<dyn Iterator<Item = Result<Vec<NewPlant>, StoreError>> + 'a>;

/// A store of plants, and of the digests of the tokens that may create them.
///
/// Every engine promises, even if a process or the machine stops at any moment:
///
/// - **Durable.** What [`Writer::commit`] reports as created or repeated survives a power cut.
/// - **Exactly once.** A plant is there or not: never in part, never twice.
/// - **First write wins.** An id always belongs to the first plant committed under it.
/// - **Byte-exact.** Every member comes back as it came, the empty string and U+0000 included, and
///   an absent member is not an empty one.
///
/// All calls block the thread, which must not be one that drives a runtime. Any number of processes
/// may have a store open beside those that serve it: one for a file, any number for a database.
pub trait Engine: Contents + Send + Sync {
    /// Makes sure that there is a store, of the present schema. Called before anything else, until
    /// it succeeds; the store may be created by this server or by another one. Returns whether this
    /// one created it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreachable`], where it may succeed later.
    fn set_up(&self) -> Result<bool, StoreError>;

    /// The writer, which is the only way to add plants.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] also where the engine cannot promise durability.
    fn writer(&self) -> Result<Box<dyn Writer>, StoreError>;

    /// Looks after the store while it is served; called about once a second.
    ///
    /// # Errors
    ///
    /// As for a commit; an error that [`CommitError::is_final`] ends the service.
    fn tend(&self) -> Result<Sizes, CommitError>;

    /// What is wrong with the store, in words for an operator; nothing, where it is sound. Does not
    /// read the plants.
    fn check(&self) -> Result<Vec<String>, StoreError>;

    /// What the store takes on the disk.
    fn sizes(&self) -> Result<Sizes, StoreError>;

    /// How often the tokens have changed. It costs little, so a server can ask often.
    fn token_changes(&self) -> Result<u32, StoreError>;

    /// Keeps a new token; durable when this returns. A token of the same name that has expired is
    /// replaced.
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

    /// A server says that it is about to read the tokens for the first time. From now on a command
    /// that changes them waits for this server too.
    fn join(&self) -> Result<(), StoreError>;

    /// A server says that it has read the tokens after so many changes. Called at least once a
    /// second.
    fn confirm_tokens(&self, changes: u32) -> Result<(), StoreError>;

    /// Whether every server on this store has confirmed every change of the tokens; also true where
    /// no server runs on it.
    fn are_tokens_in_force(&self) -> Result<bool, StoreError>;
}

/// A store that is being made. It is invisible until it is published, and gone if it is not.
pub trait NewStore: Contents {
    /// Adds plants, whose ids are new.
    fn add(&mut self, plants: &[NewPlant]) -> Result<(), StoreError>;

    /// Adds a token, whose name is new.
    fn add_token(&mut self, token: &StoredToken) -> Result<(), StoreError>;

    /// Puts the whole store in its place, durably. Returns whether it did: it does not where
    /// something else is in the place by now.
    ///
    /// # Errors
    ///
    /// There is no store then, or a whole one whose name is not durable yet.
    fn publish(self: Box<Self>) -> Result<bool, StoreError>;
}

/// How a server starts on a store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// Whether a store is created where there is none.
    pub create: bool,
    /// Whether a store is served that lacks its log.
    pub without_log: bool,
    /// Whether a store is served whose database does not sync.
    pub without_fsync: bool,
}

/// Commits plants. There is one for each open store, driven by [`GroupCommit`].
///
/// [`GroupCommit`]: crate::store::GroupCommit
pub trait Writer: Send {
    /// Commits the plants in one transaction and returns an outcome for each, in their order.
    /// The outcomes are the same as if the plants were committed one by one.
    ///
    /// An engine that can be interrupted returns before `until`, and repeats until then what may
    /// succeed. A file cannot be.
    ///
    /// # Errors
    ///
    /// No plant of the batch may be answered with success then.
    fn commit(&mut self, plants: &[NewPlant], until: Instant) -> Result<Vec<Outcome>, CommitError>;

    /// Commits something that changes nothing: it tells whether the store takes writes again.
    ///
    /// # Errors
    ///
    /// As for a commit.
    fn try_write(&mut self, until: Instant) -> Result<(), CommitError> {
        self.commit(&[], until).map(drop)
    }

    /// Whether [`Self::try_write`] may also follow a fault. Not where the fault may be that the file
    /// is not the store any more: it must not be written.
    fn may_try_after_fault(&self) -> bool {
        false
    }

    /// Called once, after the last commit: the store is complete without this process then.
    ///
    /// # Errors
    ///
    /// As for a commit. What was committed before stays durable.
    fn finish(&mut self) -> Result<(), CommitError> {
        Ok(())
    }

    /// Upkeep, such as checkpoints. Called after each answered batch, so no answer waits for it.
    ///
    /// # Errors
    ///
    /// As for a commit. What was committed before stays durable.
    fn maintain(&mut self) -> Result<(), CommitError>;
}

/// What a store takes on the disk, in bytes, as far as the engine can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The plants; in a file, also the tokens.
    pub store: Option<u64>,
    /// The log of what is not in the store's file yet.
    pub log: Option<u64>,
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
    /// The reason may pass: a full disk, a lock held too long, a database that restarts. Nothing was
    /// written, or it is unknown what was: where the answer to a commit was lost. The same plants
    /// may be committed again in either case.
    #[error("the store does not take writes: {0}")]
    Unavailable(Cause),
    /// The engine failed in a way that does not pass by itself.
    #[error("the store failed: {0}")]
    Fault(Cause),
    /// An fsync failed. The kernel may have marked the lost pages clean, so the next fsync can
    /// succeed without writing them: the writer must not be used again. A restart reads what
    /// really is on the disk.
    #[error("a sync of the store failed: {0}")]
    SyncFailed(Cause),
    /// The store's files were removed, or others took their place: what is committed goes where
    /// nobody will find it. The writer must not be used again.
    #[error("the store is not in its place any more: {0}")]
    Gone(Cause),
}

impl CommitError {
    /// Whether the service has to end.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::SyncFailed(_) | Self::Gone(_))
    }
}

/// Why a store cannot be opened or used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error(
        "there is no plant store at {0}; `plant-store serve`, without --no-create, creates one"
    )]
    Missing(StoreUrl),
    #[error("there is something at {0} already; it is left as it is")]
    Exists(StoreUrl),
    #[error(
        "there is no store at {url}, but the log of one: {files}. \
         Put its store back beside the log, or move the log away"
    )]
    LeftBehind { url: StoreUrl, files: String },
    #[error(
        "{log} is not the log of {url}, but of another store or of another copy of this one. \
         If the store was put there on purpose, such as a backup, move the log away: it holds the \
         last plants of the other one. If not, put the other one back"
    )]
    ForeignLog { url: StoreUrl, log: String },
    #[error(
        "{url} was not stopped, and its log {log} is missing: put it back beside the store. \
         If it is lost, or another program has copied it into the store, \
         `plant-store serve --without-log` starts without it"
    )]
    LogLost { url: StoreUrl, log: String },
    #[error("cannot use {url} now: {cause}")]
    Unreachable { url: StoreUrl, cause: Cause },
    #[error("{url} is served by {server} already; stop that one first, or choose another store")]
    Served { url: StoreUrl, server: String },
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
}

/// An engine's error, whichever engine it is: for people and logs.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;
