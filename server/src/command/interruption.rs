//! The signals that interrupt a copy, which would otherwise end the process and leave an unfinished
//! file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sys::signal::SigSet;
use nix::sys::signal::Signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};

/// How long the copy has to notice a signal. It does not while a database or a disk does not answer.
const NOTICE: Duration = Duration::from_secs(1);

/// Whether a signal has come, and what is removed then if the copy does not end by itself.
#[derive(Clone, Default)]
pub struct Interruption(Arc<State>);

#[derive(Default)]
struct State {
    has_come: AtomicBool,
    unfinished: OnceLock<PathBuf>,
}

impl Interruption {
    /// From now on, SIGTERM, SIGINT, SIGQUIT and SIGHUP interrupt the copy. Called before other
    /// threads are started: they take over which signals are blocked.
    pub fn handle() -> Result<Self> {
        let signals: SigSet = [SIGTERM, SIGINT, SIGQUIT, SIGHUP].into_iter().collect();
        signals.thread_block()?;
        // With SIGXFSZ blocked, a write past the limit on file size fails with EFBIG.
        SigSet::from(SIGXFSZ).thread_block()?;
        let this = Self::default();
        let interruption = this.clone();
        let wait = move || {
            if signals.wait().is_ok() {
                interruption.end();
            }
        };
        thread::Builder::new().spawn(wait).context("cannot wait for signals")?;
        Ok(this)
    }

    /// This file is unfinished until the copy ends.
    pub fn removes(&self, unfinished: &Path) {
        self.0.unfinished.get_or_init(|| unfinished.to_owned());
    }

    /// Fails if a signal has come.
    pub fn check(&self) -> Result<()> {
        ensure!(!self.0.has_come.load(Relaxed), "interrupted; the copy is gone");
        Ok(())
    }

    /// Ends the process, unless the copy ends by itself.
    fn end(&self) {
        self.0.has_come.store(true, Relaxed);
        thread::sleep(NOTICE);
        if let Some(file) = self.0.unfinished.get() {
            // It is gone already if the copy has ended meanwhile.
            let _ = fs::remove_file(file);
        }
        let _ = writeln!(io::stderr(), "plant-store: interrupted while a store did not answer");
        process::exit(1);
    }
}
