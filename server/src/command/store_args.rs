//! The flags of all commands that work on one store.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Error, Result};
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command};

use crate::store::{self, Engine, Reason, StoreError, StoreUrl};

/// Which store to work on.
#[derive(Args, Clone, Debug)]
pub struct StoreArgs {
    /// Where the plants are kept
    #[arg(
        long = "store",
        value_name = "URL",
        env = "PLANT_STORE_STORE",
        value_parser = StoreUrlParser,
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

/// Reads the URL of a store. clap's own error would repeat the value, which may hold a password.
#[derive(Clone)]
pub struct StoreUrlParser;

impl TypedValueParser for StoreUrlParser {
    type Value = StoreUrl;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<StoreUrl, clap::Error> {
        let flag = arg.map(Arg::to_string).unwrap_or_default();
        value.to_string_lossy().parse().map_err(|fault| {
            let said = format!("invalid value for '{flag}': {fault}\n");
            clap::Error::raw(ErrorKind::ValueValidation, said).with_cmd(command)
        })
    }
}
