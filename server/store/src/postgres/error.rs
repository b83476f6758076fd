//! PostgreSQL's errors: what they mean for a create and for an operator.
//!
//! The message of an error must never contain the password or the text of a row.
//!
//! The codes are SQLSTATEs (<https://www.postgresql.org/docs/current/errcodes-appendix.html>); the
//! first two characters of a code are its class.

use std::error::Error as _;

use tokio_postgres::error::SqlState;

use crate::error::{Error, Kind};
use crate::url::StoreUrl;

/// Codes and classes of errors that may pass within a second: connection failures, statements that
/// were prepared before a table changed, read-only transactions, rollbacks, resources, locks,
/// operator interventions, and system errors. XX000 is an error without a code of its own, such as
/// an error of an extension while the server stops; damage has other codes.
const TRANSIENT: [&str; 10] = ["08", "0A", "25", "26", "40", "53", "55", "57", "58", "XX000"];

/// Why an attempt on the database failed.
#[derive(Debug)]
pub struct Failure {
    pub error: Error,
    /// The SQLSTATE, or empty.
    code: String,
    /// Whether the deadline has passed.
    pub is_timeout: bool,
}

impl Failure {
    /// Creates a failure that may pass within a second.
    pub fn transient(message: impl Into<String>) -> Self {
        Error::new(Kind::Unavailable, message).into()
    }

    /// The deadline has passed. Statements that were sent may have been executed all the same.
    pub fn timeout() -> Self {
        Self { is_timeout: true, ..Self::transient("the database did not answer in time") }
    }

    /// Whether the same statements may succeed within a second, without an operator changing
    /// anything. It is unknown whether the failed statements were executed.
    pub fn is_transient(&self) -> bool {
        self.error.kind == Kind::Unavailable
    }

    /// Whether the transaction was rolled back because of another transaction, so that it had no
    /// effect. `IF NOT EXISTS` does not cover a race: of two servers that create a table at the
    /// same time, one finds the other's row in the catalog, as a key, a table or a type.
    pub fn was_rolled_back(&self) -> bool {
        ["40001", "40P01", "23505", "42P07", "42710"].contains(&self.code.as_str())
    }

    /// Replaces what the database says about a statement that carries rows by its SQLSTATE: the
    /// message may contain a value of a row, for example if a trigger raises it.
    pub fn without_message(self) -> Self {
        if self.code.is_empty() {
            return self;
        }
        let Self { error, code, .. } = &self;
        let message = format!("the database refused the rows with SQLSTATE {code}{}", advice(code));
        Self { error: Error::new(error.kind, message), ..self }
    }

    /// Converts this to the error of a call. `doing` is what the call attempted.
    pub fn of_call(self, url: &StoreUrl, doing: &str) -> Error {
        if self.is_transient() {
            return Error::new(Kind::Unavailable, format!("cannot use {url} now: {}", self.error));
        }
        self.error.at(url, doing)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, code: String::new(), is_timeout: false }
    }
}

/// Classifies an error of the driver, or an error that the database sent. The detail of a database
/// error is left out: it may contain values of a row.
impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let code = error.code().map_or("", SqlState::code);
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        let message = match error.as_db_error() {
            Some(error) => format!("{} (SQLSTATE {code}){}", error.message(), advice(code)),
            None => format!("{error}{cause}{}", advice(&cause)),
        };
        let is = |codes: &[&str]| codes.iter().any(|class| code.starts_with(class));
        let kind = match code {
            "" if is_network_error(&error) => Kind::Unavailable,
            _ if is(&TRANSIENT) => Kind::Unavailable,
            // `BadSignature` means that another authority has the same name.
            "" if cause.contains("UnknownIssuer") || cause.contains("BadSignature") => {
                Kind::Untrusted
            }
            // A login or a database is missing, or the client and the server do not agree.
            _ if code.is_empty() || is(&["28", "3D"]) => Kind::Misconfigured,
            // A table or a column is missing, or the database has found its own files damaged.
            _ if is(&["42P01", "42703", "XX"]) => Kind::Damaged,
            _ => Kind::Other,
        };
        Self { code: code.to_owned(), ..Error::new(kind, message).into() }
    }
}

/// Returns what an operator can do about an error with this SQLSTATE, or with this cause of the
/// driver.
fn advice(code_or_cause: &str) -> &'static str {
    match code_or_cause {
        "3D000" => ": create it with `createdb`",
        "28P01" | ": password missing" => {
            ": the password comes from the URL, or else from PGPASSWORD"
        }
        "42501" => {
            ": GRANT the role SELECT, INSERT and UPDATE on the table of the rows, SELECT on the \
             table of the layout version, and SELECT, INSERT and DELETE on tokens; to create the \
             tables, also CREATE on the schema"
        }
        ": server does not support TLS" => {
            ": set `ssl = on` in its postgresql.conf or, if the network to it is private, append \
             `?sslmode=disable` to the URL"
        }
        _ => "",
    }
}

/// Whether the connection could not be made, or was lost. A refused password or certificate is not
/// a network error.
fn is_network_error(error: &tokio_postgres::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    error.is_closed()
        || cause.is_some_and(|cause| cause.get_ref().is_none_or(|of| !of.is::<rustls::Error>()))
}
