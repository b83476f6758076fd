//! The Prometheus exporter: records the registered metrics and renders a scrape.
//!
//! This file knows no metrics but `build_info`, only the suffixes of their names: a histogram of
//! seconds ends in `_seconds`, and a histogram of sizes ends in `_size`.

use std::convert::Infallible;
use std::time::Duration;

use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_util::layers::{Layer, PrefixLayer};
use tokio::time::interval;

use crate::names::METRICS;
use crate::version::COMMIT;

/// How often samples are sorted into buckets. A busy second produces a megabyte of samples.
const UPKEEP: Duration = Duration::from_secs(1);

/// The bucket bounds: from the fsync of a fast disk to the default deadline of a body.
const SECONDS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// The bucket bounds: from a single create to the largest batch.
const SIZES: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

const BUILD_INFO: &str = "build_info";

/// Installs the recorder of the process. It records all metrics that are registered from now on.
///
/// # Errors
///
/// Fails if a recorder is already installed.
pub fn install_recorder() -> anyhow::Result<PrometheusHandle> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_size".into()), &SIZES)?
        .build_recorder();
    let exporter = recorder.handle();
    // The layer joins prefix and name with a dot, which the exporter renders as an underscore.
    metrics::set_global_recorder(PrefixLayer::new(METRICS).layer(recorder))?;
    describe_gauge!(BUILD_INFO, "Always 1. The labels are the release and commit of this server.");
    gauge!(BUILD_INFO, "version" => env!("CARGO_PKG_VERSION"), "commit" => COMMIT).set(1);
    Ok(exporter)
}

/// Sorts samples into buckets periodically. Never returns.
pub async fn sort_samples(exporter: PrometheusHandle) -> Infallible {
    let mut ticks = interval(UPKEEP);
    loop {
        ticks.tick().await;
        exporter.run_upkeep();
    }
}
