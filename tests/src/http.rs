//! The requests and answers of the plant store, byte for byte.

use groundwork_testing::Response;
use plant_store_client::types::Plant;
use serde_json::{Value, json};

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
