//! The service in the test's own process, with plants in memory, so that its panics can be counted.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Once, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use plant_store_api::types::NewPlant;
use plant_store_server::http::bodies::Bodies;
use plant_store_server::http::server::listen;
use plant_store_server::log::LogLevel;
use plant_store_server::store::{CommitError, Outcome, Writer};
use plant_store_tests::{EVENT_TIMEOUT, ServiceOverWriter};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// The plants of a store, by their ids.
pub type Plants = BTreeMap<i64, Value>;

/// The name of the service's thread.
const SERVER: &str = "server in process";
/// The name that the service gives the writer's thread.
const WRITER: &str = "writer";

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// A running service. Dropping it ends its thread.
pub struct InProcess {
    pub address: SocketAddr,
    pub token: String,
    plants: Arc<Mutex<Plants>>,
    /// Dropping it ends the service.
    running: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl InProcess {
    /// Starts a service without plants.
    pub fn start(bodies: Bodies) -> Self {
        count_panics();
        let plants = Arc::default();
        let memory = Memory(Arc::clone(&plants));
        let (started, start) = mpsc::channel();
        let (running, end) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name(SERVER.into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let ServiceOverWriter { service, log, token, .. } = service(memory, bodies);
                let server = listen(
                    "127.0.0.1:0".parse().expect("an address"),
                    None,
                    None,
                    service,
                    Arc::clone(&log.dropshot),
                );
                let server = server.expect("a free port");
                started
                    .send((server.local_addr(), token.reveal().to_owned()))
                    .expect("the test waits for the address");
                let _ = end.await;
            });
        });
        let thread = Some(thread.expect("a thread"));
        let (address, token) = start.recv_timeout(EVENT_TIMEOUT).expect("the service starts");
        Self { address, token, plants, running: Some(running), thread }
    }

    /// The plants so far.
    pub fn plants(&self) -> Plants {
        self.plants.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often the services in this process have panicked so far.
    pub fn panics() -> usize {
        PANICS.load(Relaxed)
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        drop(self.running.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A panic in a connection's task ends only that task, so a panic hook counts it.
fn count_panics() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if let Some(SERVER | WRITER) = thread::current().name() {
                PANICS.fetch_add(1, Relaxed);
            }
            before(panic);
        }));
    });
}

fn service(memory: Memory, bodies: Bodies) -> ServiceOverWriter {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("sqlite:{}", folder.path().join("tokens.db").display());
    let url = url.parse().expect("a store URL");
    ServiceOverWriter::start(Box::new(memory), 64, bodies, &url, LogLevel::Critical)
        .expect("a store and a thread")
}

/// The first plant of an id stays, as in every store.
struct Memory(Arc<Mutex<Plants>>);

impl Writer for Memory {
    fn commit(&mut self, plants: &[NewPlant], _: Instant) -> Result<Vec<Outcome>, CommitError> {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outcomes = plants.iter().map(|NewPlant { id, plant }| match stored.entry(*id) {
            Entry::Vacant(free) => {
                free.insert(json!(plant));
                Outcome::Created
            }
            Entry::Occupied(taken) if *taken.get() == json!(plant) => Outcome::Repeated,
            Entry::Occupied(_) => Outcome::Conflict,
        });
        Ok(outcomes.collect())
    }

    fn maintain(&mut self) -> Result<(), CommitError> {
        Ok(())
    }
}
