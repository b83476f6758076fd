//! The metrics in Prometheus' text format.
//!
//! This module does not know the series of the rooms. It knows only the ends of their names: that
//! of a histogram of seconds ends in `_seconds`, that of a histogram of sizes in `_size`. Each room
//! registers its own series once, as it starts, and keeps the handles. So a request looks up
//! nothing and allocates nothing, and a series that has counted nothing yet is there as 0. Without
//! [`install`] the handles do nothing and cost a branch each.
//!
//! Label values are words of this crate, or the names of tokens, which operators choose. A label
//! must never hold what a client sent, and nothing may count plants or tokens by their content. The
//! exporter keeps a series until the process ends, also that of a revoked token.

use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// The bounds of the buckets: from the fsync of a fast disk to the default deadline of a body.
const SECONDS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// The bounds of the buckets: from a create that is alone in its commit to the largest batch.
const SIZES: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

const BUILD_INFO: &str = "plant_store_build_info";
const READY: &str = "plant_store_ready";

/// Counts what is registered from now on, until the process ends.
///
/// # Errors
///
/// There is an exporter already.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_size".into()), &SIZES)?
        .install_recorder()?;
    describe_gauge!(BUILD_INFO, "Always 1; the labels say which release and which commit serve.");
    describe_gauge!(READY, "Whether the service would take a create: 1 or 0, as /ready says.");
    let (version, commit) = (env!("CARGO_PKG_VERSION"), env!("PLANT_STORE_COMMIT"));
    gauge!(BUILD_INFO, "version" => version, "commit" => commit).set(1);
    Ok(handle)
}

/// Every series, as text.
pub fn scrape(metrics: &PrometheusHandle, is_ready: bool) -> String {
    gauge!(READY).set(u8::from(is_ready));
    metrics.render()
}
