//! `copy` compares the source and the copy by this: how much is in a store, and a checksum that does
//! not depend on the order.

use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::token::StoredToken;
use crate::types::NewPlant;

/// Plants and tokens that were counted. Two stores with the same tally hold the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many plants.
    plants: u64,
    /// How many tokens.
    tokens: u64,
    /// The sum of the hashes of all of them, modulo 2^128.
    checksum: u128,
}

impl Tally {
    /// A tally of these tokens, and no plant yet.
    pub fn of(tokens: &[StoredToken]) -> Self {
        let mut tally = Self { tokens: tokens.len() as u64, ..Self::default() };
        for token in tokens {
            tally.add(token);
        }
        tally
    }

    /// Counts plants.
    pub fn add_plants(&mut self, plants: &[NewPlant]) {
        for plant in plants {
            self.plants += 1;
            self.add(plant);
        }
    }

    /// As JSON, every member counts, also one that is added later.
    fn add(&mut self, item: &impl Serialize) {
        let json = serde_json::to_vec(item).expect("plants and tokens are always JSON");
        let hash: [u8; 32] = Sha256::digest(json).into();
        let half = hash.first_chunk().expect("32 bytes have a half of 16");
        self.checksum = self.checksum.wrapping_add(u128::from_be_bytes(*half));
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plants, tokens, checksum } = self;
        write!(f, "plants: {plants}, tokens: {tokens}, checksum: {checksum:032x}")
    }
}
