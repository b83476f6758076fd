//! SQLite: the embedded engine. A store is an ordinary SQLite database, and SQLite's own tools work
//! on it.
//!
//! Write-ahead log and `synchronous=FULL`: a commit returns when the WAL is synced, and that makes
//! it durable (<https://sqlite.org/pragma.html#pragma_synchronous>).
//!
//! A server takes the lock of the file, opens it, and copies the WAL into it with a sync before it
//! answers anything (`wal.rs`). A stop copies the WAL again.
//!
//! While a connection of this process is open, nothing but SQLite may close the store's file:
//! closing any descriptor of it drops SQLite's locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod connection;
mod error;
mod files;
mod open;
mod opened_files;
mod restore;
mod rows;
mod schema;
mod store;
mod tokens;
mod wal;

pub use open::{fill, open, open_to_serve};
pub use restore::{Restored, restore};

#[cfg(test)]
mod tests;
