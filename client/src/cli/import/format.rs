//! How the plants of a file are written: as JSON lines or as CSV.

use std::path::Path;

/// Of a file in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How the plants are written.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values, with the names of the members in the first line
    Csv,
}

impl Format {
    /// The one that the name of a file says.
    pub fn of_name(path: &Path) -> Self {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let is_csv = [".csv", ".csv.gz", ".csv.zst"].iter().any(|ending| name.ends_with(ending));
        if is_csv { Self::Csv } else { Self::Jsonl }
    }
}
