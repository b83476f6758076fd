//! The end-to-end tests, which use the real binary, real sockets and the real client.

mod consumers;
mod copies;
mod database;
mod libraries;
mod metrics;
mod model;
mod reads;
mod serve;
mod tls;
mod tokens;

/// What happens to a SQLite store's file and its WAL after a crash, on a full or failing disk,
/// after damage, and when operators handle the files.
mod sqlite {
    mod damage;
    pub mod disk;
    mod files;
    mod wal;
}

/// PostgreSQL alone. Each test has a PostgreSQL server of its own, which it may stop.
mod postgres {
    mod contents;
    mod refusals;
    pub mod servers;
    mod starts;
}

/// Requests and answers, byte for byte. These tests run on both engines.
mod wire {
    mod limits;
    mod log;
    mod refusals;
}

/// The checked-in files and the command line. Nothing here depends on the engine, so each test runs
/// only once.
mod without_store {
    pub mod command_line;
    pub mod pages;

    use std::process::Command;

    use plant_store_tests::{process, root};

    /// Returns the abbreviated commit of the checkout, or an empty string if the sources are not a
    /// checkout. A binary that is built from a checkout with changes appends `-dirty`.
    pub fn commit() -> String {
        let mut git = Command::new("git");
        let git = git.args(["rev-parse", "--short=12", "HEAD"]).current_dir(root());
        process::run(git).stdout.trim_end().to_owned()
    }
}
