//! Which store, as a URL names it.
//!
//! A password must never be shown: not by `Display`, not by `Debug`, and not in an error.

use std::fmt;
use std::path::{PathBuf, absolute};
use std::str::FromStr;

use crate::postgres::url::PostgresUrl;

/// Where a store is, and by which engine it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreUrl {
    /// `sqlite:PATH`: a file, taken literally, without parameters; `PATH` is relative to the
    /// working directory unless it begins with `/`, and does not begin with exactly two of them.
    Sqlite(PathBuf),
    /// `postgres://…` or `postgresql://…`: a database.
    Postgres(PostgresUrl),
}

/// Why a text does not name a durable store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    /// No engine has that scheme.
    #[error(
        "expected `sqlite:PATH`, such as `sqlite:/folder/x.db`, or \
         `postgres://USER@HOST:PORT/DATABASE`"
    )]
    UnknownEngine,
    /// SQLite takes an empty path and `:memory:` for a database that is not kept. Some tools read
    /// parameters after a `?`. Some read `sqlite://x.db` as a file here, others as one in the root.
    #[error(
        "a store is a file that outlives the process, with no parameters, and no `?` in its \
         path: expected `sqlite:x.db`, which is relative to the working directory, or \
         `sqlite:/folder/x.db`"
    )]
    NotAFile,
    /// What is wrong is not repeated: it may be the rest of a password.
    #[error(
        "expected `postgres://USER@HOST:PORT/DATABASE`, which has a host and a database, and only \
         the parameters of tokio-postgres; a `@`, `/`, `?` or `#` in a password is written as \
         %40, %2F, %3F or %23"
    )]
    NotADatabase,
    /// libpq has these modes, and the driver has none of them.
    #[error(
        "a parameter of the URL is wrong: `sslmode` is `require`, which verifies the certificate \
         and its name, as `verify-full` of libpq does, or `disable`"
    )]
    UnknownSslMode,
}

impl FromStr for StoreUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        match text.split_once(':') {
            Some(("sqlite", path)) => {
                let has_two_slashes = path.starts_with("//") && !path.starts_with("///");
                let is_file = !matches!(path, "" | ":memory:") && !path.contains('?');
                if is_file && !has_two_slashes {
                    Ok(Self::Sqlite(path.into()))
                } else {
                    Err(InvalidUrl::NotAFile)
                }
            }
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                let is_of_libpq = text.contains("sslmode=verify-");
                let wrong =
                    if is_of_libpq { InvalidUrl::UnknownSslMode } else { InvalidUrl::NotADatabase };
                PostgresUrl::parse(text).map(Self::Postgres).ok_or(wrong)
            }
            _ => Err(InvalidUrl::UnknownEngine),
        }
    }
}

impl StoreUrl {
    /// The same store, whatever the working directory.
    #[must_use]
    pub fn absolute(&self) -> Self {
        match self {
            Self::Sqlite(path) => Self::Sqlite(absolute(path).unwrap_or_else(|_| path.clone())),
            Self::Postgres(_) => self.clone(),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => url.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests;
