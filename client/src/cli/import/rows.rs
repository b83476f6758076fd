//! Reads the rows of a CSV file with the crate `csv`. The header names the members of a plant.

use std::io::{self, Read, Take};

use anyhow::{Result, bail, ensure};
use csv::{ByteRecord, ErrorKind, ReaderBuilder, StringRecord};
use serde_json::{Value, json};

use super::record::{InvalidRecord, LONGEST, Record, too_long};
use crate::cli::reader;
use crate::types::NewPlant;

/// The usual delimiters, each with its spelling in a shell.
const DELIMITERS: [(char, &str); 4] = [(',', "','"), (';', "';'"), ('\t', r"'\t'"), ('|', "'|'")];

/// Iterates over the rows after the header.
pub struct Rows<R> {
    /// The reader. The limit of `Take` bounds the length of a row.
    reader: csv::Reader<Take<R>>,
    delimiter: u8,
    header: StringRecord,
    /// What to add to the line number that `csv` reports: `csv` counts the LF of a CRLF as part of
    /// the next row.
    line_offset: u64,
}

impl<R: Read> Rows<R> {
    /// Reads the header. Fails if no row of this header could be a plant. Also fails if the
    /// contract has no member for a column, unless `ignores_unknown` is set: the column's values
    /// would be lost.
    pub fn new(input: R, delimiter: u8, ignores_unknown: bool) -> Result<Self> {
        let mut reader = ReaderBuilder::new().delimiter(delimiter).from_reader(input.take(LONGEST));
        let header = reader.headers()?.clone();
        ensure!(reader.get_ref().limit() > 0, too_long(1));
        if !header.is_empty() {
            check_header(&header, ignores_unknown)?;
        }
        let line_offset = u64::from(reader.position().line() == 1);
        Ok(Self { reader, delimiter, header, line_offset })
    }

    fn read(&mut self) -> io::Result<Option<Record>> {
        self.reader.get_mut().set_limit(LONGEST);
        let mut row = ByteRecord::new();
        let read = self.reader.read_byte_record(&mut row);
        let line = self.line_offset + row.position().map_or(0, csv::Position::line);
        if self.reader.get_ref().limit() == 0 {
            let message = format!("{}: is a closing quote missing?", too_long(line));
            return Err(io::Error::other(message));
        }
        let plant = match read {
            Ok(false) => return Ok(None),
            Ok(true) => self.plant(&row),
            Err(error) => match error.kind() {
                ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    Err(format!("the row has {len} fields, but the header has {expected_len}"))
                }
                _ => return Err(error.into()),
            },
        };
        let plant = plant.map_err(|message| InvalidRecord { message, content: self.text(&row) });
        Ok(Some(Record { line, plant }))
    }

    /// Parses a row, or returns why it is not a plant.
    fn plant(&self, row: &ByteRecord) -> Result<NewPlant, String> {
        // If a closing quote is missing, `csv` reads on to the next quote without an error.
        if row.iter().any(|field| field.contains(&b'\n') || field.contains(&b'\r')) {
            return Err(
                "a field contains a line break: is a closing quote missing? A plant with a \
                        line break needs JSON lines"
                    .to_owned(),
            );
        }
        let row = StringRecord::from_byte_record(row.clone()).map_err(|error| {
            let error = error.utf8_error();
            let name = &self.header[error.field()];
            format!("`{name}`: {}", reader::not_utf_8(error.valid_up_to()))
        })?;
        let plant = deserialize(&row, &self.header)?;
        let json = json!(plant);
        let mut fields = self.header.iter().zip(&row);
        match fields.find(|(name, field)| !is_exact(field, json.get(name))) {
            Some((name, "")) => Err(format!("`{name}`: the field is empty")),
            Some((name, field)) => Err(format!("`{name}`: {field:?} is not a JSON number")),
            None => Ok(plant),
        }
    }

    /// Formats the row as CSV again.
    fn text(&self, row: &ByteRecord) -> Value {
        let mut writer = csv::WriterBuilder::new().delimiter(self.delimiter).from_writer(vec![]);
        let written = writer.write_byte_record(row);
        let text = written.ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
        String::from_utf8_lossy(text.trim_ascii_end()).into()
    }
}

impl<R: Read> Iterator for Rows<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Deserializes a row with `csv`, which is less strict than JSON.
fn deserialize(row: &StringRecord, header: &StringRecord) -> Result<NewPlant, String> {
    row.deserialize(Some(header)).map_err(|error| match error.kind() {
        ErrorKind::Deserialize { err, .. } => match err.field().map(usize::try_from) {
            Some(Ok(number)) => format!("`{}`: {}", &header[number], err.kind()),
            _ => err.kind().to_string(),
        },
        _ => error.to_string(),
    })
}

/// Returns whether a field is valid for the member that `csv` parsed from it. `csv` also accepts
/// numbers that JSON refuses, such as 0x10, and parses an empty field as an empty text, but here an
/// empty field is an absent member.
fn is_exact(field: &str, member: Option<&Value>) -> bool {
    match member {
        Some(Value::String(text)) => field == text && !field.is_empty(),
        Some(member) => serde_json::from_str::<Value>(field).is_ok_and(|field| field == *member),
        // The member is absent, or the contract does not have it.
        None => true,
    }
}

/// Fails if the rows of this header cannot be plants.
fn check_header(header: &StringRecord, ignores_unknown: bool) -> Result<()> {
    if header[0].starts_with("sep=") {
        bail!("the first line is a spreadsheet's delimiter hint: remove it, and add --delimiter");
    }
    for (number, name) in header.iter().enumerate() {
        ensure!(
            !header.iter().take(number).any(|other| other == name),
            "the header contains the column {name:?} twice: keep one of them"
        );
        if !is_unknown(name) {
            continue;
        }
        let is_alone = header.len() == 1 || !ignores_unknown;
        let delimiter = DELIMITERS.iter().find(|(delimiter, _)| name.contains(*delimiter));
        if let Some((_, argument)) = delimiter.filter(|_| is_alone) {
            bail!("the header contains the column {name:?}: add --delimiter {argument}")
        }
        ensure!(
            ignores_unknown,
            "the header contains the unknown column {name:?}: correct the name, or add \
             --ignore-unknown"
        );
    }
    // A row of zeros parses both as numbers and as texts, so only the header can be at fault.
    match deserialize(&StringRecord::from(vec!["0"; header.len()]), header) {
        Err(error) if error.starts_with("missing field") => {
            bail!("the header has no column for a required member: {error}")
        }
        _ => Ok(()),
    }
}

/// Returns whether a plant has no member of this name.
fn is_unknown(column: &str) -> bool {
    let mut is_unknown = false;
    // Only the name matters. The object is not a plant, so the result is an error.
    let plant = json!({ column: null });
    let _ = serde_ignored::deserialize::<_, _, NewPlant>(plant, |_| is_unknown = true);
    is_unknown
}
