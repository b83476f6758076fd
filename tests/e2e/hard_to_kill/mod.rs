//! Crashes, failing disks and floods. None of them may lose an acknowledged plant, or cause an
//! answer that the contract does not declare. `cargo xtask soak` runs these tests at full length.

mod crowds;
pub mod disk;
mod memory;
mod strangers;
