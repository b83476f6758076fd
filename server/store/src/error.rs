//! The errors of a store.
//!
//! A message says what is wrong, and may say what an operator can do with files or with the
//! database. Neither this file nor an engine may name a flag, a command or a page of the product.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::LAYOUT;
use crate::token::TokenName;
use crate::url::StoreUrl;

/// The underlying error of an engine, for people and logs.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a store cannot be used, as far as it decides what an operator does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The content of the store is not as it was written.
    Damaged,
    /// The disk is full.
    Full,
    /// The certificate of the database is not signed by an authority that this machine trusts.
    Untrusted,
    /// Any other reason.
    Other,
}

/// Why a store that is being served cannot be written: the error of a commit, of the upkeep or of
/// an inspection.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The reason may pass, such as a full disk, a lock that was held too long, or a database that
    /// is restarting. Either nothing was written, or the answer to the commit was lost. In both
    /// cases the same rows may be committed again.
    #[error("the store does not take writes: {0}")]
    Unavailable(Cause),
    /// The store did not answer in time. The row may be stored or not. To find out, send the same
    /// create again.
    #[error("the store did not answer within {0:?}")]
    TooLate(Duration),
    /// The engine failed in a way that does not pass by itself.
    #[error("the store failed: {0}")]
    Fault(Cause),
    /// An fsync failed. The kernel may have marked the lost pages clean, so the next fsync can
    /// succeed without writing them. The writer must not be used again; the next start copies the
    /// WAL into the file and syncs both.
    #[error("an fsync of the store failed: {0}")]
    SyncFailed(Cause),
    /// The store's files were removed or replaced, so nobody would find the rows that are committed
    /// from now on. The writer must not be used again.
    #[error("the store's files are no longer in place: {0}")]
    Gone(Cause),
}

/// Files of a served store are no longer in place. Until somebody has put them back, a restart would
/// serve a store that lacks rows.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}; put the files back as they were, then start the server again (it recreates a missing \
         -shm file)"
)]
pub struct FilesGone(pub Arc<WriteError>);

impl WriteError {
    /// Whether the reason may pass while the service runs, by itself or because an operator acts.
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
#[expect(missing_docs, reason = "the messages document the variants")]
pub enum StoreError {
    #[error("there is no store at {}", .0.absolute())]
    Missing(StoreUrl),
    #[error("something already exists at {0}; it was left unchanged")]
    Exists(StoreUrl),
    #[error(
        "there is no store at {url}, but there are files of a store: {files}. \
         Put the store back beside them, or move them away"
    )]
    LeftBehind { url: StoreUrl, files: String },
    #[error("a copy into {0} was interrupted, so some rows are missing")]
    CopyUnfinished(StoreUrl),
    #[error(
        "the file of {url} {}: SQLite keeps a WAL for each name of a file, and two WALs corrupt \
         the store. {}",
        if *.is_mounted { "is mounted by itself" } else { "has a second name, a hard link" },
        if *.is_mounted {
            "Mount the folder that contains the file"
        } else {
            "Stop the server, and remove all names but one"
        }
    )]
    SecondName { url: StoreUrl, is_mounted: bool },
    #[error(
        "a server is using {0}, but the store's -shm file is missing. If the server is just \
         starting, try again in a moment. Otherwise somebody has removed the file: stop the server, \
         and start it again"
    )]
    NoWalIndex(StoreUrl),
    #[error("cannot use {url} now: {cause}")]
    Unreachable { url: StoreUrl, cause: Cause },
    #[error(
        "{0} is in use by another process (a server, or a command that reads a file without write \
         access): stop that process, or choose another store"
    )]
    ServedElsewhere(StoreUrl),
    #[error("{0} is not a store")]
    NotAStore(StoreUrl),
    #[error(
        "the file of {0} is empty (0 bytes). A first start that was killed may have left it: if no \
         store was there before, remove the file and the files beside it. Otherwise put the store \
         back"
    )]
    EmptyFile(StoreUrl),
    #[error(
        "{url} has layout version {found}, but this release reads only version {}: use the release \
         that wrote the store. The store was left unchanged",
        LAYOUT
    )]
    OtherLayout { url: StoreUrl, found: i64 },
    #[error("{url}: cannot {doing}: {cause}")]
    Failed { url: StoreUrl, doing: &'static str, cause: Cause, reason: Reason },
    #[error("{0} contains rows already")]
    HasRows(StoreUrl),
    #[error(
        "{url} accepts tokens already ({}), and tokens from another store might include one that \
         was revoked since", names.join(", ")
    )]
    HasTokens { url: StoreUrl, names: Vec<String> },
    #[error("a token named \"{name}\" already exists: revoke it in {url}, or choose another name")]
    TokenNameTaken { name: TokenName, url: StoreUrl },
    #[error("there is no token named \"{0}\"")]
    NoSuchToken(TokenName),
}

impl StoreError {
    /// Returns the reason of the failure.
    #[must_use]
    pub fn reason(&self) -> Reason {
        if let Self::Failed { reason, .. } = self { *reason } else { Reason::Other }
    }
}
