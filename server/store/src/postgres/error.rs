//! PostgreSQL's errors: what they mean for a create, and for an operator.
//!
//! No text of an error may hold the password or the text of a row. The codes are those of
//! <https://www.postgresql.org/docs/current/errcodes-appendix.html>; the first two characters are
//! the class.

use std::error::Error;

use tokio_postgres::error::SqlState;

use crate::error::{Reason, StoreError, WriteError};
use crate::metrics::RetryCause;
use crate::names::{LAYOUT_TABLE, TABLE};
use crate::token_row::Malformed;
use crate::url::StoreUrl;

/// What may pass within a second: connections, statements prepared before a table changed,
/// read-only transactions, rollbacks, resources, locks, interventions, and the system below. XX000
/// is an error without a code of its own, such as that of an extension while the server stops;
/// damage has other codes.
const PASSING: [&str; 10] = ["08", "0A", "25", "26", "40", "53", "55", "57", "58", "XX000"];

/// Why the database did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// An error of the driver, or one that the database sent.
    #[error("{}", said(.0))]
    Driver(#[from] tokio_postgres::Error),
    /// The service has cancelled the statement, which may still have been carried out.
    #[error("the database did not answer in time")]
    Timeout,
    /// A commit that succeeded on this machine, and may not be on its standby. Or another warning:
    /// what it means for a row is not known.
    #[error("the database warned: {0}")]
    Warned(String),
    /// A commit would not be durable here.
    #[error("{0}")]
    Unsafe(String),
    /// No store can be in this database: it does not keep texts as UTF-8.
    #[error(
        "the database has the encoding {0}, and a store needs UTF8: make one with \
         `createdb --encoding=UTF8 --template=template0`"
    )]
    OtherEncoding(String),
    /// The table of the tokens holds what this service has not written.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The database holds no store of this release.
    #[error("{0}")]
    Refused(Box<StoreError>),
    /// No host took the connection: what each says, and the error of one of them.
    #[error("{0}")]
    NoHost(String, Box<Self>),
    /// A row whose id was taken is not there.
    #[error("a row was removed from the store")]
    Removed,
}

/// What the driver says, or the database: its message and SQLSTATE, without the detail, which may
/// hold values of a row. And what an operator can do about it.
fn said(error: &tokio_postgres::Error) -> String {
    const PASSWORD: &str = ": the password is that of the URL, else of PGPASSWORD";
    if let Some(error) = error.as_db_error() {
        let code = error.code().code();
        let advice = match code {
            "3D000" => ": make it with `createdb`".into(),
            "28P01" => PASSWORD.into(),
            "42501" => format!(
                ": GRANT the role SELECT, INSERT and UPDATE on {TABLE}, SELECT on {LAYOUT_TABLE}, \
                 and SELECT, INSERT and DELETE on tokens; if the tables are to be created, also \
                 CREATE on the schema"
            ),
            _ => String::new(),
        };
        return format!("{} (SQLSTATE {code}){advice}", error.message());
    }
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let advice = match cause.as_str() {
        ": password missing" => PASSWORD,
        ": server does not support TLS" => {
            ": set `ssl = on` in its postgresql.conf; or, if nobody else can use the network to \
             it, write `?sslmode=disable` at the end of the URL"
        }
        _ => "",
    };
    format!("{error}{cause}{advice}")
}

impl PostgresError {
    /// The SQLSTATE, if the database has sent one.
    fn code(&self) -> Option<&str> {
        match self {
            Self::Driver(error) => error.code().map(SqlState::code),
            Self::NoHost(_, error) => error.code(),
            _ => None,
        }
    }

    /// Whether its code is one of these, or of one of these classes.
    pub fn is_of(&self, codes: &[&str]) -> bool {
        self.code().is_some_and(|code| codes.iter().any(|class| code.starts_with(class)))
    }

    /// Whether the authority that signed the database's certificate is not trusted.
    fn is_of_unknown_authority(&self) -> bool {
        match self {
            Self::Driver(error) => error.source().is_some_and(|cause| {
                let cause = cause.to_string();
                // The second one: an authority of the same name.
                cause.contains("UnknownIssuer") || cause.contains("BadSignature")
            }),
            Self::NoHost(_, error) => error.is_of_unknown_authority(),
            _ => false,
        }
    }

    /// The cause that the metrics count if something is sent again because of it.
    pub fn retry_cause(&self) -> RetryCause {
        match (self, self.code()) {
            (Self::Timeout, _) => RetryCause::Timeout,
            (Self::Warned(_), _) => RetryCause::Warning,
            (_, Some("40001")) => RetryCause::Serialization,
            (_, Some("40P01")) => RetryCause::Deadlock,
            (_, Some("25006")) => RetryCause::ReadOnly,
            (Self::Driver(_) | Self::NoHost(..), None) => RetryCause::Connection,
            _ if self.is_of(&["08", "57"]) => RetryCause::Connection,
            _ => RetryCause::Other,
        }
    }

    /// Whether the transaction was rolled back because of another one: nothing of it was done.
    pub fn was_rolled_back(&self) -> bool {
        self.is_of(&["40001", "40P01"])
    }

    /// Whether the same statements may succeed within a second: no operator has to change something
    /// before. It is unknown whether they were carried out.
    pub fn passes_soon(&self) -> bool {
        match self {
            Self::Timeout | Self::Warned(_) | Self::Removed => true,
            Self::Unsafe(_) | Self::OtherEncoding(_) | Self::Malformed(_) | Self::Refused(_) => {
                false
            }
            Self::NoHost(_, error) => error.passes_soon(),
            Self::Driver(error) if error.code().is_none() => is_of_the_network(error),
            Self::Driver(_) => self.is_of(&PASSING),
        }
    }

    /// Whether the reason may pass while the service runs. An operator may change a login, a
    /// certificate or a setting.
    fn may_pass(&self) -> bool {
        self.code().is_none() || self.is_of(&["28", "3D"]) || self.passes_soon()
    }

    /// As an error of the store, while this was tried.
    pub fn of_store(self, url: &StoreUrl, doing: &'static str) -> StoreError {
        let reason = match self {
            Self::Refused(error) => return *error,
            _ if self.passes_soon() => {
                return StoreError::Unreachable { url: url.clone(), cause: self.into() };
            }
            Self::Malformed(_) => Reason::Damaged,
            _ if self.is_of_unknown_authority() => Reason::Untrusted,
            // A table or a column is not there, or the database has found its own files damaged.
            _ if self.is_of(&["42P01", "42703", "XX"]) => Reason::Damaged,
            _ => Reason::Other,
        };
        StoreError::Failed { url: url.clone(), doing, cause: self.into(), reason }
    }
}

/// A connection was not made, or has ended. A refused password or certificate is another error.
fn is_of_the_network(error: &tokio_postgres::Error) -> bool {
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
