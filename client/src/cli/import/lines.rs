//! JSON lines: a record is a line. Empty ones are passed over.

use std::io::{self, BufRead, Read};

use super::record::{Record, Text};
use crate::types::NewPlant;

/// The longest line that is read, in bytes: more than the longest body that the service takes by
/// default. It bounds the memory of the import.
const LONGEST: u64 = 1024 * 1024;

/// What some editors and exports begin a file with (U+FEFF in UTF-8). `csv` passes over it, too.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

const ARRAY: &str =
    "an array: a line has to be one JSON object, as `jq -c '.[]'` writes those of an array";

/// The lines of a file.
pub struct Lines<R> {
    input: R,
    /// The number of the last line.
    line: u64,
    ignores_unknown: bool,
}

impl<R: BufRead> Lines<R> {
    /// Begins at the first line.
    pub fn new(input: R, ignores_unknown: bool) -> Self {
        Self { input, line: 0, ignores_unknown }
    }

    fn read(&mut self) -> io::Result<Option<Record>> {
        let mut text = Vec::new();
        while text.is_empty() {
            if self.input.by_ref().take(LONGEST).read_until(b'\n', &mut text)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            if text.len() as u64 == LONGEST {
                return Err(io::Error::other(format!("line {} is longer than 1 MiB", self.line)));
            }
            if self.line == 1 && text.starts_with(BYTE_ORDER_MARK) {
                text.drain(..BYTE_ORDER_MARK.len());
            }
            text.truncate(text.trim_ascii_end().len());
        }
        let plant = plant(&text, self.ignores_unknown);
        Ok(Some(Record { line: self.line, plant, text: Text::Line(text) }))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The plant of a line. A member that the contract does not have is refused, because the service
/// would ignore it: a mistyped name would lose its value.
fn plant(text: &[u8], ignores_unknown: bool) -> Result<NewPlant, String> {
    // Serde would take the elements of an array for the members, in their order.
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(ARRAY.to_owned());
    }
    let mut unknown = Vec::new();
    let mut json = serde_json::Deserializer::from_slice(text);
    let plant = serde_ignored::deserialize(&mut json, |name| unknown.push(name.to_string()))
        .and_then(|plant| json.end().map(|()| plant))
        // The record has the number of the line.
        .map_err(|error| error.to_string().replace(" at line 1 column ", " at column "))?;
    match unknown.first().filter(|_| !ignores_unknown) {
        Some(name) => {
            Err(format!("`{name}` is no member of a plant: correct it, or add --ignore-unknown"))
        }
        None => Ok(plant),
    }
}
