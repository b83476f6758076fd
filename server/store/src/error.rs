//! How a store fails.
//!
//! An error says what is wrong, and may say what an operator does with files or with the database.
//! No flag, command or page of the product is named here or in an engine.

use std::time::Duration;

use crate::layout::LAYOUT;
use crate::token::TokenName;
use crate::url::StoreUrl;

/// An error of any engine, for people and logs.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a store cannot be used, where that decides what an operator does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// What is in the store is not as it was written.
    Damaged,
    /// The disk is full.
    Full,
    /// Nobody whom this machine trusts has signed the certificate of the database.
    Untrusted,
    /// Any other reason.
    Other,
}

/// Why a store that is served cannot be written: what a commit, the upkeep or an inspection says.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The reason may pass: a full disk, a lock held too long, a database that restarts. Nothing
    /// was written, or the answer to the commit was lost. In both cases the same rows may be
    /// committed again.
    #[error("the store does not take writes: {0}")]
    Unavailable(Cause),
    /// No answer came in time. The row may be in the store or not; the same create, sent again,
    /// tells.
    #[error("the store has not answered within {0:?}")]
    TooLate(Duration),
    /// The engine failed in a way that does not pass by itself.
    #[error("the store failed: {0}")]
    Fault(Cause),
    /// An fsync failed. The kernel may have marked the lost pages clean, so the next fsync can
    /// succeed without writing them: the writer must not be used again. A restart reads what
    /// really is on the disk.
    #[error("a sync of the store failed: {0}")]
    SyncFailed(Cause),
    /// The store's files were removed, replaced or cut: nobody would find what is committed. The
    /// writer must not be used again.
    #[error("the store is not in its place any more: {0}")]
    Gone(Cause),
}

impl WriteError {
    /// Whether the reason may pass while the service runs, by itself or because an operator removes
    /// it.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::TooLate(_))
    }

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
    #[error("there is no store at {}", .0.absolute())]
    Missing(StoreUrl),
    #[error("there is something at {0} already; it is left as it is")]
    Exists(StoreUrl),
    #[error(
        "there is no store at {url}, but files of one: {files}. \
         Put the store back beside them, or move them away"
    )]
    LeftBehind { url: StoreUrl, files: String },
    #[error(
        "{0} is not a store, or a copy into it was interrupted: if it was a copy, delete the \
         file, and those named like it with -wal and -shm at the end, and copy again"
    )]
    Unfinished(StoreUrl),
    #[error("a copy into {0} was interrupted, so not every row is there")]
    CopyUnfinished(StoreUrl),
    #[error(
        "the file of {url} {}: SQLite keeps a WAL for each name of a file, and two of them ruin \
         the store. {}",
        if *.is_mounted { "is mounted by itself" } else { "has a second name, a hard link" },
        if *.is_mounted {
            "Mount the folder that contains the file"
        } else {
            "Keep one of the names, while no server runs"
        }
    )]
    SecondName { url: StoreUrl, is_mounted: bool },
    #[error(
        "a server or a restore uses {0}, and the -shm file of the store is not there: if it is \
         only starting, or is a restore, try again in a moment. Otherwise somebody has removed \
         the file: stop the server, and start it again"
    )]
    NoWalIndex(StoreUrl),
    #[error("cannot use {url} now: {cause}")]
    Unreachable { url: StoreUrl, cause: Cause },
    #[error(
        "{0} is used by another process, a server, a restore or a copy: stop it, or choose another \
         store"
    )]
    ServedElsewhere(StoreUrl),
    #[error("{0} is not a store")]
    NotAStore(StoreUrl),
    #[error(
        "{url} has another layout (version {found}), and this release reads version {} alone: use \
         the release that wrote it. It is left as it is",
        LAYOUT
    )]
    OtherLayout { url: StoreUrl, found: i64 },
    #[error("{url}: cannot {doing}: {cause}")]
    Failed { url: StoreUrl, doing: &'static str, cause: Cause, reason: Reason },
    #[error(
        "there is a token named \"{name}\" already: revoke it in {url}, or choose another name"
    )]
    TokenNameTaken { name: TokenName, url: StoreUrl },
    #[error("there is no token named \"{0}\"")]
    NoSuchToken(TokenName),
}

impl StoreError {
    /// Why, in one word.
    #[must_use]
    pub fn reason(&self) -> Reason {
        if let Self::Failed { reason, .. } = self { *reason } else { Reason::Other }
    }
}
