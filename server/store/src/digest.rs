//! One number for all rows of a store, by which a copy is compared with its original.
//!
//! The database checks the structure of its file, and not the texts in it. A byte of a text that
//! was changed on the disk changes this digest.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::engine::Row;

/// The SHA-256 of ids and texts (FIPS 180-4). Two stores with the same rows have the same digest,
/// in every engine. Tokens do not count.
#[derive(Clone, Debug, Default)]
pub struct ContentDigest(Sha256);

impl ContentDigest {
    /// Adds the next rows. The rows of a store are added in the order of their ids.
    pub fn add(&mut self, rows: &[Row]) {
        for Row { id, json } in rows {
            self.0.update(id.to_be_bytes());
            // Otherwise the end of a text could be the id of the next row.
            self.0.update((json.len() as u64).to_be_bytes());
            self.0.update(json.as_bytes());
        }
    }
}

/// 64 hexadecimal digits.
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
