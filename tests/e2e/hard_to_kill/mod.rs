//! What must not lose a plant or draw an answer that the contract does not declare: crashes,
//! failing disks, floods. `cargo xtask soak` runs these tests at full length.

mod checkpoints;
mod crashes;
mod damage;
mod disk;
mod failed_syncs;
mod floods;
mod full_disks;
mod load;
mod read_only;
mod slow_clients;
