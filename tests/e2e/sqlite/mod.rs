//! What SQLite alone has: the file of a store and its WAL. These tests check what is left of them
//! after a crash, a full or failing disk, damage, and what operators do to files.

mod backup;
pub mod check;
pub mod damage;
pub mod failed_syncs;
pub mod full_disks;
pub mod hanging_disk;
pub mod kills;
pub mod left_files;
pub mod long_wals;
pub mod loop_devices;
pub mod ordinary_tools;
pub mod restore;
mod revocation;
pub mod slow_disk;
pub mod stores;
pub mod swapped_files;
