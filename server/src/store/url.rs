//! Which store: the value of `--store`.

use std::fmt;
use std::path::{PathBuf, absolute};
use std::str::FromStr;

use crate::store::postgres::url::PostgresUrl;

/// Where a store is, and by which engine it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreUrl {
    /// `sqlite:PATH`: a file, taken literally, without parameters; `PATH` is relative to the working
    /// directory unless it begins with `/`, and does not begin with exactly two of them.
    Sqlite(PathBuf),
    /// `postgres://…` or `postgresql://…`: a database.
    Postgres(Box<PostgresUrl>),
}

/// The text does not name a durable store.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidStoreUrl {
    /// No engine of that name.
    #[error("expected `sqlite:PATH` or `postgres://USER@HOST:PORT/DATABASE`")]
    UnknownEngine,
    /// SQLite takes an empty path and `:memory:` for a database that is not kept. Some tools read
    /// parameters after a `?`. Some read `sqlite://x.db` as a file here, others as one in the root.
    #[error(
        "a plant store is a file that outlives the process, with no parameters, and no `?` in its \
         path: expected `sqlite:x.db`, which is relative to the working directory, or \
         `sqlite:/folder/x.db`"
    )]
    NotAFile,
    /// What is wrong is not repeated: it may be the rest of a password.
    #[error(
        "expected `postgres://USER@HOST:PORT/DATABASE`, which has a host and a database, and only \
         the parameters of tokio-postgres; a `@`, `/`, `?` or `#` in a password is written as %40, \
         %2F, %3F or %23"
    )]
    NotADatabase,
}

impl FromStr for StoreUrl {
    type Err = InvalidStoreUrl;

    fn from_str(text: &str) -> Result<Self, InvalidStoreUrl> {
        match text.split_once(':') {
            Some(("sqlite", path)) => {
                let has_two_slashes = path.starts_with("//") && !path.starts_with("///");
                let is_file = !matches!(path, "" | ":memory:") && !path.contains('?');
                (is_file && !has_two_slashes)
                    .then(|| Self::Sqlite(path.into()))
                    .ok_or(InvalidStoreUrl::NotAFile)
            }
            Some(("postgres" | "postgresql", place)) if place.starts_with("//") => {
                let url = PostgresUrl::parse(text).ok_or(InvalidStoreUrl::NotADatabase)?;
                Ok(Self::Postgres(Box::new(url)))
            }
            _ => Err(InvalidStoreUrl::UnknownEngine),
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
