//! `serve --check`: whether a server could use the files of TLS and the store.
//!
//! It listens nowhere and creates no store, so a server may run meanwhile.

use anyhow::{Result, bail};
use plant_store_store::{self as store, StoreError};
use slog::Logger;

use crate::command::output::print;
use crate::command::serve::args::Args;

/// Fails if a file or the store cannot be used, or if the certificate is not valid now.
pub fn run(args: &Args, log: &Logger) -> Result<()> {
    if let Some(files) = &args.tls {
        let validity = files.load(log)?.validity;
        if let Some(fault) = validity.fault().filter(|_| !validity.is_now()) {
            bail!("{}: {fault}", files.cert.display());
        }
    }
    let url = &args.store.url;
    let found = match store::open(url, args.store.ca.as_deref()) {
        Ok(_) => "can be used",
        Err(StoreError::Missing(_)) if !args.no_create => "would be created",
        Err(error) => return Err(error.into()),
    };
    print(&format!("the flags and the files of TLS can be used; {} {found}\n", url.absolute()))
}
