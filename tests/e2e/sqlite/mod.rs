//! Tests of SQLite alone: what happens to the store's file and its WAL after a crash, on a full or
//! failing disk, after damage, and when operators handle the files.

pub mod damage;
mod disk;
mod files;
mod restore;
mod swapped_files;
mod wal;
