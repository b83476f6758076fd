//! PostgreSQL's errors: what they mean for a create, and for an operator.
//!
//! No text of an error may hold the password or a plant.

use std::error::Error;

use tokio_postgres::error::{DbError, SqlState};

use crate::store::error::{Cause, CommitError, Reason, StoreError};
use crate::store::url::StoreUrl;

/// Why the database did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// An error of the driver, or one that the database sent.
    #[error("{}", said(.0))]
    Driver(#[from] tokio_postgres::Error),
    /// The statement may still have been carried out.
    #[error("the database did not answer in time")]
    Timeout,
    /// The service has cancelled the statement.
    #[error("the database did not answer in time: {0}")]
    Cancelled(Box<Self>),
    /// A commit that succeeded on this machine, and may not be on its standby. Or another warning:
    /// what it means for a plant is not known.
    #[error("the database warned: {0}")]
    Warned(String),
    /// The database may lose what it commits, or keep something else.
    #[error("{0}")]
    Unsafe(String),
    /// The settings of a session, and the statements that are prepared on it, would be those of
    /// another one.
    #[error(
        "a pooler in transaction mode is in front of the database, and the sessions have settings \
         and prepared statements: use its session mode, or the database's own address"
    )]
    Pooler,
    /// What is in the database is not a store of this release.
    #[error("{0}")]
    NotFit(String),
    /// No host took the connection; each with its reason.
    #[error("{}", .0.iter().map(|(host, error)| format!("{host}: {error}")).collect::<Vec<_>>().join("; "))]
    Hosts(Vec<(String, Self)>),
    /// The password, or a certificate.
    #[error("{0}")]
    Credentials(Cause),
    /// Somebody else wrote the row.
    #[error("a plant of the store is not UTF-8")]
    NotText,
    /// A plant whose id was taken is not there.
    #[error("a plant was removed from the store")]
    Removed,
    /// What was stored is not what was sent.
    #[error("the database has stored plants under other ids than were sent, such as by a trigger")]
    OtherIds,
}

/// What the driver says, or the database: its message and SQLSTATE, without the detail, which may
/// hold values of a row. And what an operator can do about it.
fn said(error: &tokio_postgres::Error) -> String {
    let cause = error.source().map(ToString::to_string);
    let advice = match (error.code(), cause.as_deref()) {
        (Some(&SqlState::INVALID_CATALOG_NAME), _) => ": make it with `createdb`",
        // The driver has no code for the second one.
        (Some(&SqlState::INVALID_PASSWORD), _) | (None, Some("password missing")) => {
            ": it is taken from the URL, else from PGPASSWORD, else from a passfile"
        }
        // It has the code of a missing right (`row_security`).
        (Some(&SqlState::INSUFFICIENT_PRIVILEGE), _) if hides_rows(error) => {
            ": use a role with BYPASSRLS, or ALTER TABLE … DISABLE ROW LEVEL SECURITY"
        }
        (Some(&SqlState::INSUFFICIENT_PRIVILEGE), _) => {
            ": GRANT the role SELECT, INSERT and UPDATE on plants, SELECT on plant_store_schema, \
             and all four on tokens, token_changes and servers; `serve` also needs CREATE on the \
             schema, unless it has --no-create"
        }
        // The second one: an authority of the same name.
        (None, Some(cause))
            if cause.contains("UnknownIssuer") || cause.contains("BadSignature") =>
        {
            ": name the file of its authority's certificate in the URL, by sslrootcert=FILE"
        }
        _ => "",
    };
    match (error.as_db_error(), cause) {
        (Some(error), _) => {
            format!("{} (SQLSTATE {}){advice}", error.message(), error.code().code())
        }
        (None, Some(cause)) => format!("{error}: {cause}{advice}"),
        (None, None) => error.to_string(),
    }
}

/// Whether a policy would hide rows from a session that refuses this
/// (<https://www.postgresql.org/docs/current/ddl-rowsecurity.html>).
fn hides_rows(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().and_then(DbError::routine) == Some("check_enable_rls")
}

impl PostgresError {
    /// What the database says, if it is the database's error.
    fn sent(&self) -> Option<&DbError> {
        match self {
            Self::Driver(error) => error.as_db_error(),
            Self::Cancelled(error) => error.sent(),
            Self::Hosts(errors) => errors.iter().find_map(|(_, error)| error.sent()),
            _ => None,
        }
    }

    /// What a statement ends with that was cancelled for its time.
    pub fn cancelled(self) -> Self {
        Self::Cancelled(Box::new(self))
    }

    /// The SQLSTATE (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
    pub fn code(&self) -> Option<&SqlState> {
        self.sent().map(DbError::code)
    }

    /// What the metrics call it.
    pub fn kind(&self) -> &'static str {
        match (self, self.code()) {
            (Self::Timeout | Self::Cancelled(_), _) => "timeout",
            (Self::Warned(_), _) => "warning",
            (_, Some(&SqlState::T_R_SERIALIZATION_FAILURE)) => "serialization",
            (_, Some(&SqlState::T_R_DEADLOCK_DETECTED)) => "deadlock",
            (_, Some(&SqlState::READ_ONLY_SQL_TRANSACTION)) => "read_only",
            (_, Some(code)) if !is_of(code, &["08", "57"]) => "other",
            (Self::Driver(_) | Self::Hosts(_), _) => "connection",
            _ => "other",
        }
    }

    /// Whether the transaction was rolled back because of another one: nothing of it was done.
    pub fn was_rolled_back(&self) -> bool {
        let codes = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        self.code().is_some_and(|code| codes.contains(code))
    }

    /// Whether the same connection can be used for the next statement. A new one finds the server
    /// that takes writes, and prepares its statements for the tables as they are.
    pub fn leaves_connection(&self) -> bool {
        match self.code() {
            Some(code) => *code == SqlState::QUERY_CANCELED || is_of(code, &["40", "55"]),
            None => matches!(self, Self::Warned(_)),
        }
    }

    /// Whether the same statements may succeed later, without a repair of the database. It is
    /// unknown whether they were carried out.
    pub fn may_pass(&self) -> bool {
        match (self, self.code()) {
            (Self::NotText | Self::OtherIds, _) => false,
            // 08: connection, 0A: a statement that was prepared before a table changed, 25:
            // transaction state (such as read-only), 26: a statement that a pooler has forgotten, 28
            // and 3D: another database is there for a while, 40: rollback, 53: resources, 55: a
            // lock, 57: intervention, 58: the system below. XX000 is an error to which nobody gave a
            // code, such as one of an extension while the server stops; damage has other codes.
            (_, Some(code)) => {
                let classes = ["08", "0A", "25", "26", "28", "3D", "40", "53", "55", "57", "58"];
                is_of(code, &classes) || *code == SqlState::INTERNAL_ERROR
            }
            (_, None) => true,
        }
    }

    /// Whether it may pass within a second. What an operator has to change may not.
    pub fn may_pass_soon(&self) -> bool {
        match self {
            Self::Unsafe(_) | Self::Pooler | Self::NotFit(_) | Self::Credentials(_) => false,
            // Without a code it is the network, TLS or the password.
            Self::Hosts(errors) => errors.iter().any(|(_, error)| {
                error.may_pass_soon() && (error.code().is_some() || error.is_unreachable())
            }),
            _ => self.may_pass() && !self.code().is_some_and(|code| is_of(code, &["28", "3D"])),
        }
    }

    /// Whether the database cannot be reached, or has to be waited for; it is not refused.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Hosts(errors) => errors.iter().all(|(_, error)| error.is_unreachable()),
            Self::Timeout | Self::Warned(_) => true,
            _ => match (self.code(), self) {
                (Some(code), _) => is_of(code, &["08", "40", "53", "55", "57"]),
                (None, Self::Driver(error)) => is_of_the_network(error),
                _ => false,
            },
        }
    }

    /// As an error of the store, while this was tried.
    pub fn of_store(self, url: &StoreUrl, doing: &'static str) -> StoreError {
        let reason = self.reason();
        match reason {
            Reason::Unreachable => StoreError::Unreachable { url: url.clone(), cause: self.into() },
            _ => StoreError::Failed { doing, cause: self.into(), reason },
        }
    }

    fn reason(&self) -> Reason {
        match (self, self.code()) {
            _ if self.is_unreachable() => Reason::Unreachable,
            (Self::NotText | Self::NotFit(_) | Self::Unsafe(_), _)
            | (_, Some(&SqlState::UNDEFINED_TABLE | &SqlState::UNDEFINED_COLUMN)) => {
                Reason::Damaged
            }
            (Self::Credentials(_), _) | (_, Some(&SqlState::INSUFFICIENT_PRIVILEGE)) => {
                Reason::Denied
            }
            (_, Some(&SqlState::INVALID_CATALOG_NAME)) => Reason::Missing,
            (_, Some(code)) if is_of(code, &["28"]) => Reason::Denied,
            // The database has found its own files damaged.
            (_, Some(code)) if is_of(code, &["XX"]) => Reason::Damaged,
            _ => Reason::Other,
        }
    }
}

/// Whether it is of one of these classes, which are the first two characters.
fn is_of(code: &SqlState, classes: &[&str]) -> bool {
    classes.iter().any(|class| code.code().starts_with(class))
}

/// A connection was not made, or has ended. A refused password or certificate is another error.
fn is_of_the_network(error: &tokio_postgres::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    error.is_closed()
        || cause.is_some_and(|cause| cause.get_ref().is_none_or(|of| !of.is::<rustls::Error>()))
}

impl From<PostgresError> for CommitError {
    fn from(error: PostgresError) -> Self {
        match error.may_pass() {
            true => Self::Unavailable(error.into()),
            false => Self::Fault(error.into()),
        }
    }
}
