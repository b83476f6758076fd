//! Tests of SQLite alone: what happens to the store's file and its WAL after a crash, on a full or
//! failing disk, after damage, and when operators handle the files.

mod damage;
pub mod disk;
mod files;
mod wal;
