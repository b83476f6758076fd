//! The plants that are read at a time.

use crate::types::NewPlant;

/// How many plants a page has at most.
pub const PLANTS: usize = 1000;

/// How many bytes of texts end a page.
const BYTES: usize = 1024 * 1024;

/// A page that is being read.
#[derive(Default)]
pub struct Page {
    pub plants: Vec<NewPlant>,
    bytes: usize,
}

impl Page {
    pub fn push(&mut self, plant: NewPlant) {
        self.bytes += plant.size();
        self.plants.push(plant);
    }

    pub fn is_full(&self) -> bool {
        self.plants.len() >= PLANTS || self.bytes >= BYTES
    }
}
