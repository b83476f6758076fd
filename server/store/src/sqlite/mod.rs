//! SQLite, the embedded engine. A store is an ordinary SQLite database, and SQLite's own tools work
//! on it.
//!
//! The store uses a write-ahead log and `synchronous=FULL`: a commit returns when the WAL is
//! synced, which makes the commit durable (<https://sqlite.org/pragma.html#pragma_synchronous>).
//!
//! A server locks the file, opens it, and checkpoints the WAL, with a sync, before it answers any
//! request (`wal.rs`). When it stops, it checkpoints the WAL again.
//!
//! While this process has a connection open, nothing but SQLite may close the store's file: closing
//! any descriptor of the file drops SQLite's locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod connection;
mod copy;
mod error;
mod files;
mod open;
mod opened_files;
mod rows;
mod schema;
mod store;
mod tokens;
mod wal;

pub use copy::{copy_from_file, copy_from_pages};
pub use open::{open_state_to_read, open_to_change, open_to_read, open_to_serve};

#[cfg(test)]
mod tests;
