//! The flags of all commands that work on one store.

use std::path::PathBuf;

use anyhow::{Error, Result};
use clap::Args;

use crate::store::{self, Engine, Reason, StoreError, StoreUrl};

/// Which store to work on.
#[derive(Args, Clone, Debug)]
pub struct StoreArgs {
    /// Where the plants are kept
    #[arg(
        long = "store",
        value_name = "URL",
        env = "PLANT_STORE_STORE",
        // It may hold a password.
        hide_env_values = true,
        default_value = "sqlite:plant-store.db"
    )]
    pub url: StoreUrl,

    /// PEM file with the authority that signed the certificate of the PostgreSQL server [default:
    /// the authorities that this machine trusts]
    #[arg(long = "store-ca", value_name = "FILE", env = "PLANT_STORE_STORE_CA")]
    pub ca: Option<PathBuf>,
}

impl StoreArgs {
    /// Opens the store that is there.
    pub fn open(&self) -> Result<Box<dyn Engine>> {
        store::open(&self.url, self.ca.as_deref()).map_err(of_store(&self.url))
    }
}

/// Says which store it is that is damaged or has no room, and where to read what to do.
pub fn of_store(url: &StoreUrl) -> impl Fn(StoreError) -> Error {
    move |error| match error {
        StoreError::Failed { reason: Reason::Damaged | Reason::Full, .. } => {
            let place = format!("{} (server/RESTORE.md#rescue says what to do)", url.absolute());
            Error::from(error).context(place)
        }
        error => error.into(),
    }
}
