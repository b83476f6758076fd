//! The error of a store, and which errors of a repeated operation are logged.
//!
//! A message says what is wrong, and may say what an operator can do with files or with the
//! database. Neither this file nor an engine may name a flag, a command or a page of the product.

use std::fmt::Display;
use std::io::{self, ErrorKind};

use crate::engine::LAYOUT;

/// What a failure means for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// There is no store.
    Missing,
    /// The reason may pass by itself within seconds, such as a lock that was held too long, or a
    /// database that is restarting. A row may be stored or not; the same rows may be committed
    /// again.
    Unavailable,
    /// The disk is full.
    Full,
    /// The certificate of the database is not signed by an authority that this machine trusts.
    Untrusted,
    /// The database refuses the service until an operator corrects a login, a certificate, or a
    /// setting that makes commits unsafe.
    Misconfigured,
    /// An fsync failed. The kernel may have marked the lost pages clean, so the next fsync can
    /// succeed without writing them. The store must not be used again; the next start copies the
    /// WAL into the file and syncs both.
    SyncFailed,
    /// The files of a served store were removed, replaced or truncated, so nobody would find the
    /// rows that are committed from now on. The store must not be used again, and a restart
    /// could serve a store that lacks rows: an operator has to act first.
    Gone,
    /// The content of the store is not as it was written, or rows of it cannot be found.
    Damaged,
    /// Something else is in the place of a store.
    NotAStore,
    /// The database lacks rows, because a copy into it was interrupted.
    CopyUnfinished,
    /// A copy would add rows to a database that has rows already.
    HasRows,
    /// A copy would add tokens to a store that accepts tokens already.
    HasTokens,
    /// Any other reason. It does not pass by itself.
    Other,
}

/// Why a call on a store failed. The message is for people and logs.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What the failure means for the caller.
    pub kind: Kind,
    message: String,
}

impl Error {
    /// Creates an error.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Creates the error of a call on a store that does not exist.
    pub(crate) fn missing(store: impl Display) -> Self {
        Self::new(Kind::Missing, format!("there is no store at {store}"))
    }

    /// Creates the error of a file or a database that is not a store of this service.
    pub(crate) fn not_a_store(store: impl Display) -> Self {
        Self::new(Kind::NotAStore, format!("{store} is not a store"))
    }

    /// Creates the error of a store that another release wrote.
    pub(crate) fn other_layout(store: impl Display, found: i64) -> Self {
        let message = format!(
            "{store} has layout version {found}, but this release reads only version {LAYOUT}: use \
             the release that wrote the store. The store was left unchanged"
        );
        Self::new(Kind::Other, message)
    }

    /// Whether the reason may pass while the service runs, by itself or because an operator acts.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        use Kind::{Full, Misconfigured, Unavailable, Untrusted};
        matches!(self.kind, Unavailable | Full | Untrusted | Misconfigured)
    }

    /// Whether the service has to end.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self.kind, Kind::SyncFailed | Kind::Gone)
    }

    /// Adds to the message on which store a call failed, and what it attempted.
    pub(crate) fn at(self, store: impl Display, doing: &str) -> Self {
        Self::new(self.kind, format!("{store}: cannot {doing}: {self}"))
    }

    /// Adds to the message what the failure means for a store that is being served.
    pub(crate) fn of_served_store(self) -> Self {
        let meaning = match self.kind {
            Kind::SyncFailed => "an fsync of the store failed",
            Kind::Gone => "the store's files are no longer in place",
            _ if self.may_pass() => "the store does not take writes",
            _ => "the store failed",
        };
        let advice = match self.kind {
            Kind::Damaged => ": it may be damaged, check it",
            Kind::SyncFailed => "; the next start checkpoints and syncs the store",
            _ => "",
        };
        Self::new(self.kind, format!("{meaning}: {self}{advice}"))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let is_full = error.kind() == ErrorKind::StorageFull;
        Self::new(if is_full { Kind::Full } else { Kind::Other }, error.to_string())
    }
}

/// Adds to the error of a result on which store a call failed, and what it attempted.
pub(crate) trait At<T> {
    fn at(self, store: impl Display, doing: &str) -> Result<T, Error>;
}

impl<T, E: Into<Error>> At<T> for Result<T, E> {
    fn at(self, store: impl Display, doing: &str) -> Result<T, Error> {
        self.map_err(|error| error.into().at(store, doing))
    }
}

/// Deduplicates the warnings of an operation that is retried: a failure is logged when it starts or
/// when its cause changes, not on every attempt. Holds the cause of the last failure.
#[derive(Default)]
pub struct WarningDedup(Option<String>);

impl WarningDedup {
    /// Records a failure. Returns `true` if it has to be logged: the last attempt succeeded, or
    /// failed for another cause.
    pub fn failed(&mut self, cause: &impl Display) -> bool {
        let cause = Some(cause.to_string());
        let is_new = self.0 != cause;
        self.0 = cause;
        is_new
    }

    /// Records a success. Returns `true` if the last attempt failed.
    pub fn succeeded(&mut self) -> bool {
        self.0.take().is_some()
    }
}
