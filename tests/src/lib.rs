//! The helpers that the end-to-end tests share: the real binary as a process with its own store,
//! and HTTP/1.1 sent byte by byte.
//!
//! Tests wait for events, never for a fixed time. They wait at most [`EVENT_TIMEOUT`], so that a
//! test fails instead of hanging. If nothing reports an event, [`wait_until`] polls for it.

mod build;
mod events;
mod folder;
mod http;
pub mod postgres;
pub mod process;
mod server;
mod table;
pub mod tls;

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::LazyLock;

use plant_store_client::types::NewPlant;
use serde_json::Value;

pub use build::{GOOSE_FARM, PLANT_STORE, PLANTS, build_example, library};
pub use events::{EVENT_TIMEOUT, wait_until};
pub use folder::{Engine, Folder, binary_in};
pub use groundwork_testing::{Connection, Launched, Response, token};
pub use http::{Created, bearer, head, post};
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

    pub use crate::process::{Ended, behind, in_shell, on_a_terminal, run};
    pub use crate::table::each_row;
    pub use crate::{
        Connection, Created, EVENT_TIMEOUT, Engine, Folder, Launched, Response, Server, Starting,
        amount, bearer, binary_in, head, plant, post, root, wait_until,
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

/// Returns whether a part of a test can run. If not, reports that it is skipped, even if the test
/// succeeds.
pub fn has(what: &str, is_there: bool) -> bool {
    if !is_there {
        // The test harness captures `println!`, but not this.
        let _ = writeln!(io::stderr(), "skipped: a part of a test needs {what}");
    }
    is_there
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
