//! What an operator watches, as Prometheus scrapes it: on a listener of its own, never on the
//! API's.
//!
//! Every series is registered once, at the start, and kept as a handle. So a request looks
//! nothing up and allocates nothing, and what has not happened yet is there as a 0. Without
//! `--metrics` the same handles lead nowhere and cost a branch each.
//!
//! Label values are words of this crate. Nothing that a client sends may become one, and nothing
//! of a plant or a token may be counted by its content.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use http::StatusCode;
use metrics::{
    Counter, Gauge, Histogram, NoopRecorder, Unit, counter, describe_counter, describe_gauge,
    describe_histogram, gauge, histogram, with_local_recorder,
};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder};

use crate::refusal::Refusal;

const CREATES: &str = "plant_store_creates_total";
const REFUSALS: &str = "plant_store_refusals_total";
const REQUEST_DURATION: &str = "plant_store_request_duration_seconds";
const BATCH_SIZE: &str = "plant_store_commit_batch_size";
const COMMIT_DURATION: &str = "plant_store_commit_duration_seconds";
const QUEUE_DEPTH: &str = "plant_store_queue_depth";

/// From a sync that a fast disk makes to the default deadline of a body.
const SECONDS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// From a create that is alone to the largest batch.
const SIZES: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// How long the exporter gathers samples before it sorts them into buckets: a busy second is a
/// megabyte of them.
const GATHER: Duration = Duration::from_secs(1);

/// The handles of every series.
pub struct Metrics {
    /// Creates whose id was free.
    pub created: Counter,
    /// Creates of a plant that was there already.
    pub repeated: Counter,
    /// Creates whose id belongs to a different plant.
    pub conflict: Counter,
    /// The time of each commit, whatever came of it.
    pub commit_duration: Histogram,
    batch_size: Histogram,
    queue_depth: Gauge,
    request_duration: Histogram,
    refusals: BTreeMap<StatusCode, Counter>,
}

impl Metrics {
    /// Metrics that nobody asked for.
    #[must_use]
    pub fn off() -> Arc<Self> {
        with_local_recorder(&NoopRecorder, Self::register)
    }

    /// Serves metrics on that address, until the process ends; on which one, where the port was
    /// left open.
    ///
    /// On a thread of its own: the samples of a busy second are sorted at one go, and where the
    /// process has no file descriptor left the exporter tries to accept again without a pause.
    /// The thread that speaks HTTP must not have to wait for either.
    ///
    /// # Errors
    ///
    /// Where the address cannot be listened on, or the operating system gives no thread.
    ///
    /// # Panics
    ///
    /// Where an asynchronous task calls it and it fails: it starts, and then drops, a runtime.
    pub fn serve(address: SocketAddr) -> io::Result<(Arc<Self>, SocketAddr)> {
        // The exporter does not tell which port it was given, so it gets one that is known.
        let address = TcpListener::bind(address)?.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let (recorder, exporter) =
            exporter(address).and_then(PrometheusBuilder::build).map_err(io::Error::other)?;
        drop(entered);
        thread::Builder::new().name("metrics".into()).spawn(move || runtime.block_on(exporter))?;
        Ok((with_local_recorder(&recorder, Self::register), address))
    }

    /// A create takes its place in the queue.
    pub fn queued(&self) {
        self.queue_depth.increment(1);
    }

    /// A batch leaves the queue, to be committed.
    pub fn taken(&self, creates: usize) {
        let creates = u32::try_from(creates).unwrap_or(u32::MAX);
        self.queue_depth.decrement(creates);
        self.batch_size.record(creates);
    }

    /// A request of the operation has its answer: `error` is that of a refusal.
    pub fn answered(&self, error: Option<StatusCode>, latency: Duration) {
        self.request_duration.record(latency);
        if let Some(refusals) = error.and_then(|error| self.refusals.get(&error)) {
            refusals.increment(1);
        }
    }

    /// Registers every series with the recorder of the moment.
    fn register() -> Arc<Self> {
        describe();
        let creates = |outcome| counter!(CREATES, "outcome" => outcome);
        Arc::new(Self {
            created: creates("created"),
            repeated: creates("repeated"),
            conflict: creates("conflict"),
            commit_duration: histogram!(COMMIT_DURATION),
            batch_size: histogram!(BATCH_SIZE),
            queue_depth: gauge!(QUEUE_DEPTH),
            request_duration: histogram!(REQUEST_DURATION),
            refusals: Refusal::ERRORS
                .map(|error| (error, counter!(REFUSALS, "error" => error.as_str().to_owned())))
                .into(),
        })
    }
}

fn exporter(address: SocketAddr) -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new()
        .with_http_listener(address)
        .upkeep_timeout(GATHER)
        .set_buckets_for_metric(Matcher::Full(REQUEST_DURATION.into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Full(COMMIT_DURATION.into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Full(BATCH_SIZE.into()), &SIZES)
}

/// The help texts: for whoever reads a scrape.
fn describe() {
    describe_counter!(
        CREATES,
        "Plants that went through a commit, by what became of them: created, repeated (the same \
         plant was there) or conflict (a different one was)."
    );
    describe_counter!(
        REFUSALS,
        "Requests of the operation that were refused, by the error member of the answer."
    );
    describe_histogram!(
        REQUEST_DURATION,
        Unit::Seconds,
        "From the routed request to its answer, refusals included."
    );
    describe_histogram!(BATCH_SIZE, Unit::Count, "Creates of one commit.");
    describe_histogram!(
        COMMIT_DURATION,
        Unit::Seconds,
        "A commit, its sync included, whether or not it succeeded."
    );
    describe_gauge!(
        QUEUE_DEPTH,
        Unit::Count,
        "Creates that wait for a commit; those of the running one do not count."
    );
}
