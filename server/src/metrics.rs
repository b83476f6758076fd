//! Serves metrics in Prometheus' text format, on a listener of its own, never on the API's.
//!
//! Nothing here knows a series, except that names say what is measured: a histogram of seconds
//! ends in `_seconds`, one of sizes in `_size`. Each room registers its own series once, as it
//! starts, and keeps the handles. So a request looks up nothing and allocates nothing, and a
//! series that has counted nothing yet is there as 0. Without [`serve`] the handles do nothing and
//! cost a branch each.
//!
//! Label values are words of this crate. A label must never hold what a client sent, and nothing
//! may count plants or tokens by their content.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder};

/// From the fsync of a fast disk to the default deadline of a body.
const SECONDS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// From a create that is alone in its commit to the largest batch.
const SIZES: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// How long the exporter keeps samples before it sorts them into buckets. A busy second has a
/// megabyte of them.
const UPKEEP: Duration = Duration::from_secs(1);

/// Serves what is registered from now on, until the process ends. Returns the address, with the
/// port that port 0 became.
///
/// It has a thread of its own: the samples of a busy second are sorted in one go, and where the
/// process has no file descriptor left, the exporter's accept loop does not pause between tries.
/// The thread that speaks HTTP must wait for neither.
///
/// # Errors
///
/// The address cannot be listened on, the operating system gives no thread, or metrics are served
/// already.
///
/// # Panics
///
/// When an asynchronous task calls it and it fails: it starts a runtime, and drops it there.
pub fn serve(address: SocketAddr) -> io::Result<SocketAddr> {
    // The exporter does not tell which port it was given, so it gets one that is known.
    let address = TcpListener::bind(address)?.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let entered = runtime.enter();
    let (recorder, exporter) =
        builder(address).and_then(PrometheusBuilder::build).map_err(io::Error::other)?;
    drop(entered);
    metrics::set_global_recorder(recorder).map_err(|error| io::Error::other(error.to_string()))?;
    thread::Builder::new().name("metrics".into()).spawn(move || runtime.block_on(exporter))?;
    Ok(address)
}

fn builder(address: SocketAddr) -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new()
        .with_http_listener(address)
        .upkeep_timeout(UPKEEP)
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_size".into()), &SIZES)
}
