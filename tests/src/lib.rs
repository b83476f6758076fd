//! What the end-to-end tests and the benchmark share: the real binary as a process on a store of
//! its own, and HTTP/1.1 sent byte by byte.
//!
//! Nothing here waits for a time to pass. Tests wait for events, at most [`EVENT_TIMEOUT`] long, so
//! that a test fails instead of hanging. Where an event cannot be waited for, a loop polls for it.

mod binary;
mod facts;
mod http;
pub mod process;
mod relay;
mod server;
mod service_over_writer;
pub mod tls;

use std::time::{Duration, Instant};

pub use binary::{binary, failure, run};
pub use facts::facts;
pub use http::{Connection, Response, bearer, head, post};
pub use server::{Server, Starting};
pub use service_over_writer::ServiceOverWriter;

/// How long a test waits for an event before it fails: longer than a slow machine needs.
pub const EVENT_TIMEOUT: Duration = Duration::from_mins(1);

/// The pause between two polls, so that polling does not slow the server down.
const PAUSE: Duration = Duration::from_millis(5);

/// Polls until `holds` does. `failure` makes the message of a test that waits too long.
fn wait_until(mut holds: impl FnMut() -> bool, failure: impl Fn() -> String) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < EVENT_TIMEOUT, "{}", failure());
        std::thread::sleep(PAUSE);
    }
}

/// How much of something a test does: little in `cargo xtask test`, much in `cargo xtask soak`.
#[must_use]
pub fn amount(short: usize, soak: usize) -> usize {
    if std::env::var_os("PLANT_STORE_SOAK").is_some() { soak } else { short }
}

/// The median of at least one figure.
#[must_use]
pub fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The JSON body that creates a plant.
#[must_use]
pub fn plant(id: i64, name: &str, tag: Option<&str>) -> String {
    let mut plant = serde_json::json!({ "id": id, "name": name });
    if let Some(tag) = tag {
        plant["tag"] = tag.into();
    }
    plant.to_string()
}
