//! The plants of the benchmark. They differ only in their ids, and no id comes twice.

pub const NAME: &str = "Monstera deliciosa";
pub const TAG: &str = "indoor";

/// How the ids follow each other.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    /// One after the other, as from a database sequence.
    Ascending,
    /// Spread over all integers of 64 bits.
    Random,
}

impl Order {
    /// The id of the nth plant.
    pub fn id(self, n: u64) -> i64 {
        match self {
            Self::Ascending => n.cast_signed(),
            Self::Random => permuted(n).cast_signed(),
        }
    }

    /// The body that creates the nth plant.
    pub fn body(self, n: u64) -> String {
        format!(r#"{{"id":{},"name":"{NAME}","tag":"{TAG}"}}"#, self.id(n))
    }
}

/// SplitMix64: a permutation, so no number comes twice (<https://prng.di.unimi.it/splitmix64.c>).
fn permuted(n: u64) -> u64 {
    let mut mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
