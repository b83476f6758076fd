//! The place of a store, where another one is put.

use std::path::{Path, PathBuf};

use crate::engine::Engine;
use crate::error::StoreError;
use crate::postgres::url::PostgresUrl;
use crate::url::StoreUrl;
use crate::{postgres, sqlite};

/// The place of a store, until another one was put there. No server starts on it.
pub enum Place {
    /// A file.
    File(sqlite::Place),
    /// A database. Nothing takes it from others.
    Database(PostgresUrl, Option<PathBuf>),
}

impl Place {
    /// Takes the place of a store. If a replacement was interrupted there, this goes on with it.
    ///
    /// # Errors
    ///
    /// [`StoreError::ServedElsewhere`] if a server runs on the file.
    pub fn take(url: &StoreUrl, ca: Option<&Path>) -> Result<Self, StoreError> {
        Ok(match url {
            StoreUrl::Sqlite(path) => Self::File(sqlite::Place::take(path)?),
            StoreUrl::Postgres(url) => Self::Database(url.clone(), ca.map(Into::into)),
        })
    }

    /// Whether the disk of a file has no room for anything.
    pub fn is_full(&self) -> bool {
        self.require_room(0).is_err()
    }

    /// Fails if the disk has no room for a new store of that size, in bytes.
    pub fn require_room(&self, bytes: u64) -> Result<(), StoreError> {
        match self {
            Self::File(place) => place.require_room(bytes),
            Self::Database(..) => Ok(()),
        }
    }

    /// The file of the store that was in the place before the last replacement, if it is there.
    pub fn last_put_away(&self) -> Option<PathBuf> {
        match self {
            Self::File(place) => place.last_put_away(),
            Self::Database(..) => None,
        }
    }

    /// Makes a store and has `fill` fill it. A file is then put in the place, and the folder is
    /// returned in which the old one is now. A database is filled as it is.
    ///
    /// # Errors
    ///
    /// A file is as it was if `fill` failed.
    pub fn put(
        self,
        fill: &mut dyn FnMut(&dyn Engine) -> anyhow::Result<()>,
    ) -> anyhow::Result<Option<PathBuf>> {
        match self {
            Self::File(place) => place.put(fill),
            Self::Database(url, ca) => postgres::fill(&url, ca.as_deref(), fill).map(|()| None),
        }
    }
}
