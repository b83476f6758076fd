//! What the end-to-end tests share: the real binary as a process on a store of its own, and HTTP/1.1
//! sent byte by byte.
//!
//! Tests wait for events and not for a fixed time: at most [`EVENT_TIMEOUT`] long, so that a test
//! fails instead of hanging. If nothing reports an event, a loop asks for it again and again:
//! [`wait_until`].

mod binary;
mod build;
mod events;
mod folder;
mod http;
mod launched;
pub mod postgres;
pub mod process;
mod server;
mod terminal;
pub mod tls;

use std::sync::LazyLock;

use plant_store_client::types::NewPlant;
use serde_json::Value;

pub use binary::{failure, run, signalled};
pub use build::{build, build_example, library};
pub use events::{EVENT_TIMEOUT, wait_until};
pub use folder::{Engine, Folder, binary_in, databases, store_of, without_own_variables};
pub use http::{Connection, Response, bearer, head, post, request};
pub use launched::{Launched, token};
pub use server::{Server, Starting};
pub use terminal::terminal;

/// How much of something a test does: little in `cargo xtask test`, much in `cargo xtask soak`.
pub fn amount(short: usize, soak: usize) -> usize {
    if std::env::var_os("PLANT_STORE_SOAK").is_some() { soak } else { short }
}

/// The JSON body that creates a plant. A required member that is not named here is that of the
/// document's example.
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

/// The same, as the generated client takes it.
pub fn new_plant(id: i64, name: &str, tag: Option<&str>) -> NewPlant {
    serde_json::from_str(&plant(id, name, tag)).expect("a plant")
}
