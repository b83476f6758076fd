//! What commands share: the store that they work on, its pages, and standard output.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};

use plant_store_store::{self as store, Engine, Reason, Row, StoreError, StoreUrl};

/// Which store to work on.
#[derive(clap::Args, Clone, Debug)]
pub struct StoreArgs {
    /// Where the plants are kept: `sqlite:PATH` or `postgres://USER@HOST:PORT/DATABASE`
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

/// There is no store to read. A new one, which is empty, would be of no use to the command.
#[derive(Debug, thiserror::Error)]
#[error("there is no plant store at {}: see {flag}", .url.absolute())]
pub struct NothingToRead {
    url: StoreUrl,
    /// The flag that names the store.
    flag: &'static str,
}

/// Opens the store that is there, for a command that reads the plants that it holds.
pub fn open_to_read(
    url: &StoreUrl,
    ca: Option<&Path>,
    flag: &'static str,
) -> Result<Box<dyn Engine>> {
    store::open(url, ca).map_err(|error| match error {
        StoreError::Missing(url) => NothingToRead { url, flag }.into(),
        other => of_store(url)(other),
    })
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

/// Whether nobody sees what is written to standard output, because it is /dev/null. If it was
/// closed when the process started, Rust's runtime has opened /dev/null in its place.
pub fn is_output_lost() -> bool {
    let null = fs::metadata("/dev/null");
    let output = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let output = output.and_then(|output| output.metadata());
    null.is_ok_and(|null| output.is_ok_and(|output| output.rdev() == null.rdev()))
}

/// Writes to standard output. An error says that it was standard output.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}
