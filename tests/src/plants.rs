//! Plants, and the requests and answers that create them, byte for byte.

use std::net::SocketAddr;
use std::sync::LazyLock;

use groundwork_testing::{Connection, Response};
use plant_store_client::types::{NewPlant, Plant};
use serde_json::{Value, json};

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
    let headers =
        format!("Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}");
    [head(&headers).as_bytes(), body].concat()
}

/// Returns the header line that contains a token.
pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// Returns the head of a `POST /plants` with `Host` and these header lines, and no others.
pub fn head(headers: &str) -> String {
    format!("POST /plants HTTP/1.1\r\nHost: plants\r\n{headers}\r\n")
}

/// Sends a GET on a new connection.
pub fn get(address: SocketAddr, target: &str) -> Response {
    let request = format!("GET {target} HTTP/1.1\r\nHost: plants\r\n\r\n");
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
