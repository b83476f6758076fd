//! The helpers that the end-to-end tests share: the real binary as a process with its own store,
//! and HTTP/1.1 sent byte by byte.
//!
//! Tests wait for events. They wait at most [`EVENT_TIMEOUT`], so that a test fails instead of
//! hanging. If nothing reports an event, [`wait_until`] polls for it.

mod build;
mod folder;
pub mod postgres;
pub mod process;
mod server;
pub mod tls;

use std::any::Any;
use std::fmt::Debug;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use plant_store_client::types::{NewPlant, Plant};
use serde_json::{Value, json};

pub use build::{FAULTY_DISK, GOOSE_FARM, PLANT_STORE, PLANTS, build_example};
pub use folder::{Engine, Folder, binary_in};
pub use groundwork_testing::{Connection, JSON, Launched, Response, bearer};
pub use server::{Server, Starting};

/// What most tests use.
pub mod prelude {
    pub use std::fs::{self, File};
    pub use std::path::{Path, PathBuf};
    pub use std::process::{Command, Stdio};
    pub use std::thread;
    pub use std::time::{Duration, Instant};

    pub use nix::sys::signal::Signal;
    pub use serde_json::{Value, json};
    pub use tempfile::TempDir;

    pub use crate::process::{Ended, behind, in_shell, on_a_terminal, run, to_full_device};
    pub use crate::{
        Connection, Created, EVENT_TIMEOUT, Engine, Folder, Launched, Response, Server, Starting,
        amount, bearer, binary_in, each_row, get, head, plant, post, root, wait_until,
    };
}

/// Returns the root of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate is in a folder of the checkout")
}

/// Returns how often a test does something: `soak` if `PLANT_STORE_SOAK` is set, else `short`.
pub fn amount(short: usize, soak: usize) -> usize {
    if std::env::var_os("PLANT_STORE_SOAK").is_some() { soak } else { short }
}

/// Returns the seeds of the random cases of a test: `soak` if `PLANT_STORE_SOAK` is set, else
/// `short`. The seeds of a soak differ each time, and those of a short run are always the same.
/// `PLANT_STORE_TESTS_SEED=7` repeats one case.
pub fn seeds(short: usize, soak: usize) -> Vec<u64> {
    if let Ok(seed) = std::env::var("PLANT_STORE_TESTS_SEED") {
        return vec![seed.parse().expect("a seed is a number")];
    }
    let first = amount(0, rand::random_range(0..1_000_000)) as u64;
    (first..).take(amount(short, soak)).collect()
}

/// Returns whether a part of a test can run. If not, reports that it is skipped, even if the test
/// succeeds.
pub fn has(what: &str, is_there: bool) -> bool {
    if !is_there {
        // The test harness captures `println!`, but not this.
        let _ = writeln!(io::stderr(), "skipped: a part of a test needs {what}");
    }
    is_there
}

/// How long a test waits for an event before it fails. Even a slow machine needs less time.
pub const EVENT_TIMEOUT: Duration = Duration::from_mins(1);

/// The pause between two polls, so that polling does not slow the server down.
const PAUSE: Duration = Duration::from_millis(5);

/// Polls until the condition is true. After [`EVENT_TIMEOUT`], panics with the message that
/// `failure` returns.
pub fn wait_until(mut condition: impl FnMut() -> bool, failure: impl Fn() -> String) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < EVENT_TIMEOUT, "{}", failure());
        sleep(PAUSE);
    }
}

/// Checks every row of a table. Then fails with each row that failed, and with its message.
pub fn each_row<R: Debug>(rows: impl IntoIterator<Item = R>, mut check: impl FnMut(R)) {
    let mut failed = Vec::new();
    for row in rows {
        let shown: String = format!("{row:?}").chars().take(200).collect();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(row))) {
            failed.push(format!("row {shown}\n{}", message(&*panic)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("")
}

/// Returns the JSON body that creates a plant. Required members without a parameter here get the
/// value of the example in the document.
pub fn plant(id: i64, name: &str, tag: Option<&str>) -> String {
    static REQUIRED: LazyLock<Value> = LazyLock::new(|| {
        let document = include_str!("../../openapi/plant-store.json");
        let document: Value = serde_json::from_str(document).expect("the document is JSON");
        let schema = &document["components"]["schemas"]["NewPlant"];
        let names = schema["required"].as_array().expect("a list").iter();
        let member = |name: &Value| {
            let name = name.as_str().expect("a name");
            (name.to_owned(), schema["example"][name].clone())
        };
        names.map(member).collect()
    });
    let mut plant = REQUIRED.clone();
    plant["id"] = id.into();
    plant["name"] = name.into();
    if let Some(tag) = tag {
        plant["tag"] = tag.into();
    }
    plant.to_string()
}

/// Returns the same plant as the type of the generated client.
pub fn new_plant(id: i64, name: &str, tag: Option<&str>) -> NewPlant {
    serde_json::from_str(&plant(id, name, tag)).expect("a plant")
}

/// Returns the bytes of a `POST /plants` with these header lines (each ending in CRLF) and this
/// body.
pub fn post(headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let headers = format!("{JSON}Content-Length: {length}\r\n{headers}");
    [head(&headers).as_bytes(), body].concat()
}

/// Returns the head of a `POST /plants` with `Host` and these header lines, and no others.
pub fn head(headers: &str) -> String {
    groundwork_testing::head("POST /plants", headers)
}

/// Sends a GET on a new connection.
pub fn get(address: SocketAddr, target: &str) -> Response {
    let request = groundwork_testing::head(&format!("GET {target}"), "");
    Connection::open(address).exchange(request.as_bytes())
}

/// An answer to a create.
pub trait Created {
    /// Returns the plant in the body of a 200, which must contain no members except those of
    /// `Plant`.
    fn plant(&self) -> Value;
}

impl Created for Response {
    fn plant(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        let plant = self.json();
        let declared: Plant = serde_json::from_value(plant.clone()).expect("a Plant");
        assert_eq!(json!(declared), plant, "as the document says");
        plant
    }
}
