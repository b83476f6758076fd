//! A digest of all rows of a store, for comparing a copy with the original.
//!
//! The database checks the structure of its file, but not the texts stored in it. If a single byte
//! of a text changes on disk, this digest changes.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::engine::Row;

/// The SHA-256 (FIPS 180-4) of all ids and texts. Two stores with the same rows have the same
/// digest, whatever their engines. Tokens are not included.
#[derive(Clone, Debug, Default)]
pub struct ContentDigest(Sha256);

impl ContentDigest {
    /// Adds the next rows. Rows must be added in ascending order of their ids.
    pub fn add(&mut self, rows: &[Row]) {
        for Row { id, json } in rows {
            self.0.update(id.to_be_bytes());
            // Without the length, the end of a text could be read as the id of the next row.
            self.0.update((json.len() as u64).to_be_bytes());
            self.0.update(json.as_bytes());
        }
    }
}

/// Writes the digest as 64 hexadecimal digits.
impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.clone().finalize() {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
