//! What commands share: the store that they work on, its pages, and standard output.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};

use plant_store_store::{self as store, Engine, Reason, Row, StoreError, StoreUrl};

/// Which store to work on.
#[derive(clap::Args, Clone, Debug)]
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
        open(&self.url, self.ca.as_deref())
    }
}

/// Opens the store that is there; `ca` is a file with the authority of a database's certificate.
pub fn open(url: &StoreUrl, ca: Option<&Path>) -> Result<Box<dyn Engine>> {
    store::open(url, ca).map_err(of_store(url))
}

/// Which store is damaged or on a full disk, and where to read what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0} (server/RESTORE.md#rescue says what to do)")]
struct SeeRescue(StoreUrl);

/// Adds to an error of a store that is damaged or on a full disk which store it is, and where to
/// read what to do, unless the error says that already.
pub fn of_store<E: Into<Error>>(url: &StoreUrl) -> impl Fn(E) -> Error {
    move |cause| {
        let error = cause.into();
        match error.downcast_ref() {
            Some(StoreError::Failed { reason: Reason::Damaged | Reason::Full, .. })
                if !error.is::<SeeRescue>() =>
            {
                error.context(SeeRescue(url.absolute()))
            }
            _ => error,
        }
    }
}

/// Reads the plants of the store in the order of their ids, in constant memory. A terminal shows
/// how many were read. They are not counted before, because that reads the whole store.
pub fn for_each_page(
    url: &StoreUrl,
    store: &dyn Engine,
    mut take: impl FnMut(&[Row]) -> Result<()>,
) -> Result<()> {
    let shows_progress = io::stderr().is_terminal();
    let mut plants = 0;
    let mut last_id = None;
    loop {
        let page = store.page(last_id).map_err(of_store(url))?;
        let Some(last_row) = page.last() else { return Ok(()) };
        last_id = Some(last_row.id);
        take(&page)?;
        plants += page.len();
        if shows_progress {
            // The cursor goes back, so that the next line writes over this one.
            let _ = write!(io::stderr(), "{plants} plants\r");
        }
    }
}

/// Writes to standard output. An error says that it was standard output.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}
