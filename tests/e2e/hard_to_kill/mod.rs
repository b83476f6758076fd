//! Crashes, failing disks and floods. None may lose a plant that was answered with 200, or cause an
//! answer that the contract does not declare. `cargo xtask soak` runs these tests at full length.

mod checkpoints;
mod crashes;
mod damage;
pub mod disk;
mod failed_syncs;
mod floods;
mod full_disks;
pub mod load;
mod read_only;
mod slow_clients;
mod strangers;
