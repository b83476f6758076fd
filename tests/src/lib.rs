//! What the end-to-end tests and the benchmark share: the real binary as a process on a store of
//! its own, and HTTP spoken byte by byte.
//!
//! Nothing here waits for a time to pass; what is waited for is always an event, with
//! [`PATIENCE`] as the bound after which a test fails instead of hanging. An event that announces
//! itself to nobody is looked for again and again.

#![allow(clippy::missing_panics_doc, reason = "to panic is how a test fails")]

mod binary;
mod facts;
mod http;
mod over_writer;
pub mod process;
mod server;

use std::time::{Duration, Instant};

pub use binary::{binary, failure, run};
pub use facts::facts;
pub use http::{Connection, Response, bearer, head, post};
pub use over_writer::OverWriter;
pub use server::{Server, Starting};

/// How long an event may take on the slowest machine before the test gives up on it.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// How long to pause between two looks, so that the looking leaves the processors to the server.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until something holds; `complain` gets to say what was waited for in vain.
fn wait_until(mut holds: impl FnMut() -> bool, complain: impl Fn() -> String) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{}", complain());
        std::thread::sleep(PAUSE);
    }
}

/// How much of something a test does: little in `cargo xtask test`, much in `cargo xtask soak`.
#[must_use]
pub fn amount(short: usize, soak: usize) -> usize {
    if std::env::var_os("PLANT_STORE_SOAK").is_some() { soak } else { short }
}

/// The median of figures, of which there is at least one.
#[must_use]
pub fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// A JSON body that makes a plant.
#[must_use]
pub fn plant(id: i64, name: &str, tag: Option<&str>) -> String {
    let mut plant = serde_json::json!({ "id": id, "name": name });
    if let Some(tag) = tag {
        plant["tag"] = tag.into();
    }
    plant.to_string()
}
