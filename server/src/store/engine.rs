//! What every engine promises.
//!
//! Every engine promises, even if a process or the machine stops at any moment:
//!
//! - **Durable.** What [`Writer::commit`] reports as created or repeated survives a power cut.
//! - **Exactly once.** A plant is there or not: never in part, never twice.
//! - **First write wins.** An id always belongs to the first plant committed under it.
//! - **Byte-exact.** Every member comes back as it came, the empty string and U+0000 included, and
//!   an absent member is not an empty one.
//!
//! All calls block the thread, which must not be one that drives a runtime. Any number of processes
//! may have a store open beside those that serve it: one process serves a file, any number serve a
//! database.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::store::error::{CommitError, StoreError};
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

/// Plants, a page at a time. The reader may be slow: between two pages a file is not held, and a
/// database keeps a snapshot.
pub type Pages<'a> = Box<dyn Iterator<Item = Result<Vec<NewPlant>, StoreError>> + 'a>;

/// A store of the present schema, whose tokens a command changes.
pub trait Tokens: Contents {
    /// Keeps a new token; durable when this returns. It never replaces one, not even one that has
    /// expired: the clock may be wrong.
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

    /// Whether every server on this store has confirmed every change of the tokens; also true if no
    /// server runs on it.
    fn are_tokens_in_force(&self) -> Result<bool, StoreError>;
}

/// A store that is there, to be read: of this schema or of an older one.
pub trait Store: Contents {
    /// What is wrong with the store, in words for an operator; nothing if it is sound. Does not read
    /// the plants.
    fn check(&self) -> Result<Vec<String>, StoreError>;

    /// What the store takes on the disk.
    fn sizes(&self) -> Result<Sizes, StoreError>;
}

/// A store, as a server that runs on it sees it.
pub trait ServedStore: Tokens + Send + Sync {
    /// Makes sure that there is a store, of the present schema. Called before anything else, until
    /// it succeeds; this server or another one may have created the store. Returns whether this one
    /// did.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreachable`] if it may succeed later.
    fn set_up(&self) -> Result<bool, StoreError>;

    /// The writer, which is the only way to add plants.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] also if the engine cannot promise durability.
    fn writer(&self) -> Result<Box<dyn Writer>, StoreError>;

    /// Looks after the store while it is served; called about once a second.
    ///
    /// # Errors
    ///
    /// As for a commit; an error that [`CommitError::is_final`] ends the service.
    fn tend(&self) -> Result<Sizes, CommitError>;

    /// How often the tokens have changed. It costs little, so a server can ask often.
    fn token_changes(&self) -> Result<u32, StoreError>;

    /// This server says that it has read the tokens after so many changes; 0 before it reads them
    /// for the first time. From then on a command that changes them waits for this server too.
    /// Called at least once a second.
    fn confirm_tokens(&self, changes: u32) -> Result<(), StoreError>;

    /// For how long this server may accept the tokens that it has confirmed last. After that a
    /// command that changes them does not wait for this server any more. `None` if a command waits
    /// for it as long as it runs.
    fn tokens_hold_for(&self) -> Option<Duration>;
}

/// A store that is being made. It is invisible until it is published, and gone if it is not.
pub trait NewStore: Contents {
    /// Adds plants, whose ids are new.
    fn add(&mut self, plants: &[NewPlant]) -> Result<(), StoreError>;

    /// Adds a token, whose name is new.
    fn add_token(&mut self, token: &StoredToken) -> Result<(), StoreError>;

    /// The file that is left if the process ends before the store is published.
    fn unfinished(&self) -> Option<&Path> {
        None
    }

    /// Puts the whole store in its place, durably. Returns false if something else is in the place
    /// by now.
    ///
    /// # Errors
    ///
    /// There is no store, or a complete one whose directory entry may not survive a crash.
    fn publish(self: Box<Self>) -> Result<bool, StoreError>;
}

/// How a server starts on a store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// Whether a store is created if there is none.
    pub create: bool,
    /// Whether a store is served that lacks its WAL.
    pub without_wal: bool,
    /// Whether a store is served whose database does not sync.
    pub without_fsync: bool,
}

/// Commits plants. There is one for each served store, driven by [`GroupCommit`].
///
/// [`GroupCommit`]: crate::store::GroupCommit
pub trait Writer: Send {
    /// Commits the plants in one transaction and returns an outcome for each, in their order.
    /// The outcomes are the same as if the plants were committed one by one.
    ///
    /// An engine that can be interrupted returns before `until`, and repeats until then what may
    /// succeed. A file cannot be interrupted.
    ///
    /// # Errors
    ///
    /// No plant of the batch may be answered with success.
    fn commit(&mut self, plants: &[NewPlant], until: Instant) -> Result<Vec<Outcome>, CommitError>;

    /// Commits something that changes nothing: it tells whether the store takes writes again.
    ///
    /// # Errors
    ///
    /// As for a commit.
    fn try_write(&mut self, until: Instant) -> Result<(), CommitError> {
        self.commit(&[], until).map(drop)
    }

    /// Whether [`Self::try_write`] may also follow a fault. False if the file may have been replaced,
    /// because a try would write to it.
    fn may_try_after_fault(&self) -> bool {
        false
    }

    /// Called once, after the last commit: then the store is complete without this process.
    ///
    /// # Errors
    ///
    /// As for a commit. What was committed before stays durable.
    fn finish(&mut self) -> Result<(), CommitError> {
        Ok(())
    }

    /// Upkeep that commits need, such as checkpoints. Called after each answered batch, so no answer
    /// waits for it.
    ///
    /// # Errors
    ///
    /// As for a commit. What was committed before stays durable.
    fn maintain(&mut self) -> Result<(), CommitError> {
        Ok(())
    }
}

/// What a store takes on the disk, in bytes, as far as the engine can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The plants; in a file, also the tokens.
    pub store: Option<u64>,
    /// SQLite's WAL: what is not in the store's file yet.
    pub wal: Option<u64>,
    /// What is free for this process on the disk of a file.
    pub disk_free: Option<u64>,
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
