//! The names that the generated commands import, and how strictly a body is parsed: as the service
//! parses it, and without members that the service would ignore. The value of a mistyped member
//! would be lost, and a plant never changes.
//!
//! Nothing here may name a type or a member of the contract.

use ::serde_json::{Deserializer, Map, Value};
use anyhow::{Result, bail};
use serde::de::DeserializeOwned;

pub use crate::*;

/// U+FEFF in UTF-8, which Windows programs write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A stand-in for the crate `schemars`. The generated commands require a schema for each value that
/// they print, and nothing here uses one.
pub mod schemars {
    pub trait JsonSchema {}
    impl<T> JsonSchema for T {}
}

/// A stand-in for the crate `serde_json`, with which the generated commands parse `--json-body`.
pub mod serde_json {
    pub fn from_str<T: serde::de::DeserializeOwned>(text: &str) -> anyhow::Result<T> {
        super::parse(text.as_bytes(), false)
    }
}

/// Parses an object of the contract. Refuses unknown members unless `ignores_unknown` is set.
///
/// serde on its own would accept an array instead of the object, text after the object, and null
/// instead of an absent member.
pub fn parse<T: DeserializeOwned>(text: &[u8], ignores_unknown: bool) -> Result<T> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if !text.trim_ascii_start().starts_with(b"{") {
        bail!("it is not a JSON object");
    }
    let mut unknown = Vec::new();
    let mut json = Deserializer::from_slice(text);
    let value = serde_ignored::deserialize(&mut json, |name| unknown.push(name.to_string()))?;
    json.end()?;
    if let Some(name) = unknown.first().filter(|_| !ignores_unknown) {
        bail!("the contract has no member `{name}`");
    }
    let object: Map<String, Value> = ::serde_json::from_slice(text)?;
    match object.iter().find(|(name, value)| value.is_null() && !unknown.contains(name)) {
        Some((name, _)) => bail!("`{name}` is null: leave the member out"),
        None => Ok(value),
    }
}
