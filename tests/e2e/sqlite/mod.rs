//! Tests of SQLite alone: what happens to the store's file and its WAL after a crash, on a full or
//! failing disk, after damage, and when operators handle the files.

pub mod check;
pub mod damage;
pub mod failed_syncs;
pub mod full_disks;
pub mod hanging_disk;
pub mod left_files;
pub mod long_wals;
pub mod loop_devices;
pub mod ordinary_tools;
mod read_only;
mod restore;
mod revocation;
pub mod stores;
pub mod swapped_files;
