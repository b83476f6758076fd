//! Which store: the value of `--store`.

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::store::postgres::url::{InvalidPostgresUrl, PostgresUrl};

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
    /// Other tools read parameters after a `?`, such as `mode=ro`. Here it would be part of a name.
    #[error("a plant store takes no parameters, and no `?` in its path; expected `sqlite:PATH`")]
    Parameters,
    /// SQLite would take this for a database in memory or for a temporary one.
    #[error("a plant store is a file that outlives the process; expected `sqlite:PATH`")]
    NotAFile,
    /// Some tools read `sqlite://x.db` as a file here, others as a file in the root.
    #[error(
        "after `sqlite://` it is not clear where the path begins; expected `sqlite:x.db`, which is \
         relative to the working directory, or `sqlite:/folder/x.db`"
    )]
    TwoSlashes,
    /// What is wrong with the URL of a database.
    #[error(transparent)]
    Postgres(#[from] InvalidPostgresUrl),
}

impl FromStr for StoreUrl {
    type Err = InvalidStoreUrl;

    fn from_str(text: &str) -> Result<Self, InvalidStoreUrl> {
        match text.split_once(':') {
            Some(("sqlite", "" | ":memory:")) => Err(InvalidStoreUrl::NotAFile),
            Some(("sqlite", path)) if path.contains('?') => Err(InvalidStoreUrl::Parameters),
            Some(("sqlite", path)) if path.starts_with("//") && !path.starts_with("///") => {
                Err(InvalidStoreUrl::TwoSlashes)
            }
            Some(("sqlite", path)) => Ok(Self::Sqlite(path.into())),
            Some(("postgres" | "postgresql", place)) if place.starts_with("//") => {
                Ok(Self::Postgres(Box::new(text.parse()?)))
            }
            _ => Err(InvalidStoreUrl::UnknownEngine),
        }
    }
}

impl StoreUrl {
    /// The URL, and the working directory if it depends on that.
    #[must_use]
    pub fn with_folder(&self) -> String {
        match (self, env::current_dir()) {
            (Self::Sqlite(path), Ok(folder)) if path.is_relative() => {
                format!("{self} in {}", folder.display())
            }
            _ => self.to_string(),
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
