//! The flags that name a store, and opening an existing store.

use std::path::PathBuf;

use plant_store_store::{self as store, Engine, StoreError, StoreUrl};

use crate::command::shared::variable;
use crate::names::STORE;

/// The store to work on.
#[derive(clap::Args, Clone, Debug)]
pub struct StoreArgs {
    /// URL of the store: `sqlite:PATH` or `postgres://USER@HOST:PORT/DATABASE`
    #[arg(
        long = "store",
        value_name = "URL",
        env = variable::for_flag("store"),
        // The URL may contain a password.
        hide_env_values = true,
        default_value = "sqlite:plant-store.db"
    )]
    pub url: StoreUrl,

    /// PEM file with the authority that signed the certificate of the PostgreSQL server [default:
    /// the authorities that this machine trusts]
    #[arg(long = "store-ca", value_name = "FILE", env = variable::for_flag("store-ca"))]
    pub ca: Option<PathBuf>,
}

impl StoreArgs {
    /// Opens an existing store to read it.
    pub fn open_to_read(&self) -> Result<Box<dyn Engine>, StoreError> {
        store::open_to_read(&STORE, &self.url, self.ca.as_deref())
    }

    /// Opens an existing store to change its tokens.
    pub fn open_to_change(&self) -> Result<Box<dyn Engine>, StoreError> {
        store::open_to_change(&STORE, &self.url, self.ca.as_deref())
    }
}
