//! `serve --check`: does what a start does, and ends before it listens. What it cannot try, it
//! says.
//!
//! It makes no store. One that is there is opened, tried and closed as a server does.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use nix::unistd::geteuid;
use plant_store_store::{self as store, StoreError};
use slog::Logger;

use crate::command::serve::address::check_is_free;
use crate::command::serve::args::{Args, Check};
use crate::command::serve::opening::start_of;
use crate::command::shared::output::print;

/// What a start would find.
enum Found {
    Usable,
    /// A start would make the store.
    Makeable,
    /// The same, in a database: nothing is made there to try it.
    Missing,
    /// Another process serves the store.
    Served,
}

impl Found {
    fn in_words(&self) -> &'static str {
        match self {
            Self::Usable => "can be used",
            Self::Makeable => "would be created",
            Self::Missing => "would be created; not tried: whether the role may make its tables",
            Self::Served => {
                "is served by another process already; not tried: the addresses and the store, \
                 which are free only when that one has stopped"
            }
        }
    }
}

/// Fails where a start would fail, and if the certificate is not valid now.
pub fn run(args: &Args, check: Check, log: &Logger) -> Result<()> {
    check_tls(args, log)?;
    if check == Check::Tls {
        return print("the flags and the files of TLS can be used\n");
    }
    let found = try_store(args)?;
    if !matches!(found, Found::Served) {
        let listener = check_is_free("--listen", args.listen)?;
        args.metrics.map(|address| check_is_free("--metrics", address)).transpose()?;
        drop(listener);
    }
    let url = args.store.url.absolute();
    let root = if geteuid().is_root() {
        "; tried as root: the user of the service may have fewer rights"
    } else {
        ""
    };
    print(&format!(
        "the flags and the files of TLS can be used; {url} {}{root}\n",
        found.in_words()
    ))
}

fn check_tls(args: &Args, log: &Logger) -> Result<()> {
    let Some(files) = &args.tls else { return Ok(()) };
    let validity = files.load(log)?.validity;
    if let Some(fault) = validity.fault().filter(|_| !validity.is_now()) {
        bail!("{}: {fault}", files.cert.display());
    }
    Ok(())
}

fn try_store(args: &Args) -> Result<Found> {
    let url = &args.store.url;
    let start = store::Start { make: false, ..start_of(args) };
    match store::open_to_serve(url, args.store.ca.as_deref(), start) {
        Ok(served) => {
            let tried = served.store.commit(&[], Instant::now() + *args.store_timeout);
            tried.with_context(|| url.absolute())?;
            served.store.tokens()?;
            served.store.close()?;
            Ok(Found::Usable)
        }
        Err(StoreError::Missing(_)) if !args.no_create => {
            Ok(if store::try_to_make(url)? { Found::Makeable } else { Found::Missing })
        }
        Err(StoreError::ServedElsewhere(_)) => Ok(Found::Served),
        Err(error) => Err(error.into()),
    }
}
