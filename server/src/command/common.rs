//! What commands share: the store that they work on, its pages, and standard output.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

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
        store::open(&self.url, self.ca.as_deref()).map_err(of_store(&self.url))
    }
}

/// Says, unless that is said already, which store it is that is damaged or has no room, and where to read
/// what to do.
pub fn of_store<E: Into<Error>>(url: &StoreUrl) -> impl Fn(E) -> Error {
    move |error| {
        let (error, place) = (error.into(), url.absolute());
        match error.downcast_ref() {
            Some(StoreError::Failed { reason: Reason::Damaged | Reason::Full, .. })
                if !error.is::<String>() =>
            {
                error.context(format!("{place} (server/RESTORE.md#rescue says what to do)"))
            }
            _ => error,
        }
    }
}

/// Reads the plants of the store in the order of their ids, in constant memory. A terminal shows how many
/// there were so far. They are not counted before, because that reads the whole store.
pub fn for_each_page(
    url: &StoreUrl,
    store: &dyn Engine,
    mut take: impl FnMut(&[Row]) -> Result<()>,
) -> Result<()> {
    let is_seen = io::stderr().is_terminal();
    let (mut plants, mut last) = (0, None);
    loop {
        let page = store.page(last).map_err(of_store(url))?;
        let Some(row) = page.last() else { return Ok(()) };
        last = Some(row.id);
        take(&page)?;
        plants += page.len();
        if is_seen {
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
