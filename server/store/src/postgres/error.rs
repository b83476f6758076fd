//! PostgreSQL's errors: what they mean for a create and for an operator.
//!
//! The message of an error must never contain the password or the text of a row.
//!
//! The codes are SQLSTATEs (<https://www.postgresql.org/docs/current/errcodes-appendix.html>); the
//! first two characters of a code are its class.

use std::error::Error;

use tokio_postgres::error::SqlState;

use crate::error::{Reason, StoreError, WriteError};
use crate::metrics::RetryCause;
use crate::token::Malformed;
use crate::url::StoreUrl;

/// Codes and classes of errors that may pass within a second: connection failures, statements that
/// were prepared before a table changed, read-only transactions, rollbacks, resources, locks,
/// operator interventions, and system errors. XX000 is an error without a code of its own, such as
/// an error of an extension while the server stops; damage has other codes.
const TRANSIENT: [&str; 10] = ["08", "0A", "25", "26", "40", "53", "55", "57", "58", "XX000"];

/// Why an operation on the database failed.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// An error of the driver, or an error that the database sent.
    #[error("{}", describe(.0, true))]
    Driver(#[from] tokio_postgres::Error),
    /// The same for a statement that carries rows. The database's message may contain a value of a
    /// row, for example if a trigger raises it, so only the SQLSTATE is shown.
    #[error("{}", describe(.0, false))]
    WithRows(tokio_postgres::Error),
    /// The service cancelled the statement, which may have been executed all the same. Holds the
    /// error of the attempt before this one, which says more than that the time was over.
    #[error("{}", .0.as_deref().unwrap_or("the database did not answer in time"))]
    Timeout(Option<String>),
    /// The database sent a warning, with this SQLSTATE. A commit with a warning may be missing on the
    /// standby; what any other warning means for a row is unknown. Its message may contain a value
    /// of a row.
    #[error("the database warned with SQLSTATE {0}")]
    Warned(String),
    /// A commit would not be durable in this database.
    #[error("{0}")]
    Unsafe(String),
    /// The database cannot contain a store, because it does not store texts as UTF-8.
    #[error(
        "the database has the encoding {0}, but a store needs UTF8: create a database with \
         `createdb --encoding=UTF8 --template=template0`"
    )]
    OtherEncoding(String),
    /// The table `tokens` contains a row that this service did not write.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The database does not contain a store of this release.
    #[error("{0}")]
    Refused(Box<StoreError>),
    /// No host accepted the connection. Holds the messages of all hosts, and the error that decides
    /// whether to retry.
    #[error("{0}")]
    NoHost(String, Box<Self>),
    /// The id of a row was taken, but the row with that id is missing.
    #[error("a row was removed from the store")]
    Removed,
}

/// Returns the message of the driver, or the SQLSTATE of the database, with its message if
/// `shows_message`, and what an operator can do about it. The detail of a database error is left
/// out: it may contain values of a row.
fn describe(error: &tokio_postgres::Error, shows_message: bool) -> String {
    const RIGHTS: &str = ": GRANT the role SELECT, INSERT and UPDATE on the table of the rows, SELECT \
        on the table of the layout version, and SELECT, INSERT and DELETE on tokens; to create the \
        tables, also CREATE on the schema";
    const PASSWORD: &str = ": the password comes from the URL, or else from PGPASSWORD";
    if let Some(error) = error.as_db_error() {
        let code = error.code().code();
        let advice = match code {
            "3D000" => ": create it with `createdb`",
            "28P01" => PASSWORD,
            "42501" => RIGHTS,
            _ => "",
        };
        return if shows_message {
            format!("{} (SQLSTATE {code}){advice}", error.message())
        } else {
            format!("the database refused the rows with SQLSTATE {code}{advice}")
        };
    }
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let advice = match cause.as_str() {
        ": password missing" => PASSWORD,
        ": server does not support TLS" => {
            ": set `ssl = on` in its postgresql.conf or, if the network to it is private, append \
             `?sslmode=disable` to the URL"
        }
        _ => "",
    };
    format!("{error}{cause}{advice}")
}

impl PostgresError {
    /// Returns the SQLSTATE, if the database sent one.
    fn code(&self) -> Option<&str> {
        match self {
            Self::Driver(error) | Self::WithRows(error) => error.code().map(SqlState::code),
            Self::NoHost(_, error) => error.code(),
            _ => None,
        }
    }

    /// Whether the SQLSTATE is one of these codes, or belongs to one of these classes.
    pub fn has_code(&self, codes: &[&str]) -> bool {
        self.code().is_some_and(|code| codes.iter().any(|class| code.starts_with(class)))
    }

    /// Whether the database's certificate was signed by an authority that is not trusted.
    fn is_untrusted_authority(&self) -> bool {
        match self {
            Self::Driver(error) => error.source().is_some_and(|cause| {
                let cause = cause.to_string();
                // `BadSignature` means that another authority has the same name.
                cause.contains("UnknownIssuer") || cause.contains("BadSignature")
            }),
            Self::NoHost(_, error) => error.is_untrusted_authority(),
            _ => false,
        }
    }

    /// Returns the cause under which the metrics count a retry after this error.
    pub fn retry_cause(&self) -> RetryCause {
        match (self, self.code()) {
            (Self::Timeout(_), _) => RetryCause::Timeout,
            (Self::Warned(_), _) => RetryCause::Warning,
            (_, Some("40001")) => RetryCause::Serialization,
            (_, Some("40P01")) => RetryCause::Deadlock,
            (_, Some("25006")) => RetryCause::ReadOnly,
            (Self::Driver(_) | Self::WithRows(_) | Self::NoHost(..), None) => {
                RetryCause::Connection
            }
            _ if self.has_code(&["08", "57"]) => RetryCause::Connection,
            _ => RetryCause::Other,
        }
    }

    /// Whether the transaction was rolled back because of another transaction, so that it had no
    /// effect.
    pub fn was_rolled_back(&self) -> bool {
        self.has_code(&["40001", "40P01"])
    }

    /// Whether the same statements may succeed within a second, without an operator changing
    /// anything. It is unknown whether the failed statements were executed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Timeout(_) | Self::Warned(_) | Self::Removed => true,
            Self::Unsafe(_) | Self::OtherEncoding(_) | Self::Malformed(_) | Self::Refused(_) => {
                false
            }
            Self::NoHost(_, error) => error.is_transient(),
            Self::Driver(error) | Self::WithRows(error) if error.code().is_none() => {
                is_network_error(error)
            }
            Self::Driver(_) | Self::WithRows(_) => self.has_code(&TRANSIENT),
        }
    }

    /// Whether the reason may pass while the service runs, for example because an operator changes
    /// a login, a certificate or a setting.
    fn may_pass(&self) -> bool {
        self.code().is_none() || self.has_code(&["28", "3D"]) || self.is_transient()
    }

    /// Converts this to an error of the store. `doing` is what was attempted.
    pub fn into_store_error(self, url: &StoreUrl, doing: &'static str) -> StoreError {
        let reason = match self {
            Self::Refused(error) => return *error,
            _ if self.is_transient() => {
                return StoreError::Unreachable { url: url.clone(), cause: self.into() };
            }
            Self::Malformed(_) => Reason::Damaged,
            _ if self.is_untrusted_authority() => Reason::Untrusted,
            // A table or a column is missing, or the database has found its own files damaged.
            _ if self.has_code(&["42P01", "42703", "XX"]) => Reason::Damaged,
            _ => Reason::Other,
        };
        StoreError::Failed { url: url.clone(), doing, cause: self.into(), reason }
    }
}

/// Whether the connection could not be made, or was lost. A refused password or certificate is not
/// a network error.
fn is_network_error(error: &tokio_postgres::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    error.is_closed()
        || cause.is_some_and(|cause| cause.get_ref().is_none_or(|of| !of.is::<rustls::Error>()))
}

impl From<StoreError> for PostgresError {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<PostgresError> for WriteError {
    fn from(error: PostgresError) -> Self {
        if error.may_pass() { Self::Unavailable(error.into()) } else { Self::Fault(error.into()) }
    }
}
