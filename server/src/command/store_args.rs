//! The flags of all commands that work on one store.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{TypedValueParser, ValueParserFactory};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Error};

use crate::store::{self, Engine, StoreUrl};

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
    pub fn open(&self) -> anyhow::Result<Box<dyn Engine>> {
        Ok(store::open(&self.url, self.ca.as_deref())?)
    }
}

/// Reads the URL of a store. clap's own error would repeat the value, which may hold a password.
#[derive(Clone)]
pub struct StoreUrlParser;

impl ValueParserFactory for StoreUrl {
    type Parser = StoreUrlParser;

    fn value_parser() -> StoreUrlParser {
        StoreUrlParser
    }
}

impl TypedValueParser for StoreUrlParser {
    type Value = StoreUrl;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<StoreUrl, Error> {
        let flag = arg.map(Arg::to_string).unwrap_or_default();
        value.to_string_lossy().parse().map_err(|fault| {
            let said = format!("invalid value for '{flag}': {fault}\n");
            Error::raw(ErrorKind::ValueValidation, said).with_cmd(command)
        })
    }
}
