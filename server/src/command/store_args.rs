//! The flags that name a store, and the opening of the store that is there.

use std::path::{Path, PathBuf};

use anyhow::Result;
use plant_store_store::{self as store, Engine, StoreError, StoreUrl};

use crate::command::rescue_advice::with_rescue_advice;
use crate::command::variable;

/// Which store to work on.
#[derive(clap::Args, Clone, Debug)]
pub struct StoreArgs {
    /// Where the plants are kept: `sqlite:PATH` or `postgres://USER@HOST:PORT/DATABASE`
    #[arg(
        long = "store",
        value_name = "URL",
        env = variable::of_flag("store"),
        // It may hold a password.
        hide_env_values = true,
        default_value = "sqlite:plant-store.db"
    )]
    pub url: StoreUrl,

    /// PEM file with the authority that signed the certificate of the PostgreSQL server [default:
    /// the authorities that this machine trusts]
    #[arg(long = "store-ca", value_name = "FILE", env = variable::of_flag("store-ca"))]
    pub ca: Option<PathBuf>,
}

impl StoreArgs {
    /// Opens the store that is there.
    pub fn open(&self) -> Result<Box<dyn Engine>> {
        store::open(&self.url, self.ca.as_deref()).map_err(with_rescue_advice(&self.url))
    }

    /// Opens the store that is there, to read the plants that it holds.
    pub fn open_to_read(&self) -> Result<Box<dyn Engine>> {
        open_to_read(&self.url, self.ca.as_deref(), "--store")
    }
}

/// There is no store to read. A new one, which is empty, would be of no use to the command.
#[derive(Debug, thiserror::Error)]
#[error("there is no plant store at {}: see {flag}", .url.absolute())]
pub struct NothingToRead {
    url: StoreUrl,
    /// The flag that names the store.
    flag: &'static str,
}

/// Opens the store that is there, for a command that reads the plants that it holds. `ca` is a file
/// with the authority of a database's certificate; `flag` names the store.
pub fn open_to_read(
    url: &StoreUrl,
    ca: Option<&Path>,
    flag: &'static str,
) -> Result<Box<dyn Engine>> {
    store::open_to_read(url, ca).map_err(|error| match error {
        StoreError::Missing(missing) => NothingToRead { url: missing, flag }.into(),
        other => with_rescue_advice(url)(other),
    })
}
