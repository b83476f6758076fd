//! Counts bytes of a text: line ends and quotes.

/// How many lines end in a text.
pub fn line_ends(text: &[u8]) -> u64 {
    count(text, b'\n')
}

/// How often a text has this byte.
pub fn count(text: &[u8], wanted: u8) -> u64 {
    text.split(|byte| *byte == wanted).skip(1).count() as u64
}
