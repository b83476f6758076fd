//! The rows of a CSV file, read by the crate `csv`. The header names the members of a plant.

use std::io::{self, Read, Take};

use anyhow::{Result, bail, ensure};
use csv::{ByteRecord, ErrorKind, ReaderBuilder, StringRecord};
use serde_json::{Value, json};

use super::record::{LONGEST, NoPlant, Record, too_long};
use crate::cli::reader;
use crate::types::NewPlant;

/// What programs separate fields by, and how a shell is given it.
const DELIMITERS: [(char, &str); 4] = [(',', "','"), (';', "';'"), ('\t', r"'\t'"), ('|', "'|'")];

/// The rows after a header.
pub struct Rows<R> {
    /// Its limit bounds a row.
    reader: csv::Reader<Take<R>>,
    delimiter: u8,
    header: StringRecord,
    /// How many lines later each row begins: `csv` counts the LF of a CRLF to the row behind it.
    later: u64,
}

impl<R: Read> Rows<R> {
    /// Reads the header. Fails if no row after it could be a plant, and if it names a column that
    /// the contract does not have, unless such columns are left out: their values would be lost.
    pub fn new(input: R, delimiter: u8, ignores_unknown: bool) -> Result<Self> {
        let mut reader = ReaderBuilder::new().delimiter(delimiter).from_reader(input.take(LONGEST));
        let header = reader.headers()?.clone();
        ensure!(reader.get_ref().limit() > 0, too_long(1));
        if !header.is_empty() {
            check(&header, ignores_unknown)?;
        }
        let later = u64::from(reader.position().line() == 1);
        Ok(Self { reader, delimiter, header, later })
    }

    fn read(&mut self) -> io::Result<Option<Record>> {
        self.reader.get_mut().set_limit(LONGEST);
        let mut row = ByteRecord::new();
        let read = self.reader.read_byte_record(&mut row);
        let line = self.later + row.position().map_or(0, csv::Position::line);
        if self.reader.get_ref().limit() == 0 {
            return Err(io::Error::other(format!("{}: is a quote not closed?", too_long(line))));
        }
        let plant = match read {
            Ok(false) => return Ok(None),
            Ok(true) => self.plant(&row),
            Err(error) => match error.kind() {
                ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    Err(format!("the row has {len} fields, the header has {expected_len}"))
                }
                _ => return Err(error.into()),
            },
        };
        let plant = plant.map_err(|message| NoPlant { message, content: self.content(&row) });
        Ok(Some(Record { line, plant }))
    }

    /// The plant of a row, or why it is none.
    fn plant(&self, row: &ByteRecord) -> Result<NewPlant, String> {
        // `csv` reads on to the next quote, and does not say that there is none.
        if row.iter().any(|field| field.contains(&b'\n') || field.contains(&b'\r')) {
            return Err("a field has a line break: is a quote not closed? A plant with a line \
                        break needs JSON lines"
                .to_owned());
        }
        let row = StringRecord::from_byte_record(row.clone()).map_err(|error| {
            let error = error.utf8_error();
            let name = &self.header[error.field()];
            format!("`{name}`: {}", reader::not_utf_8(error.valid_up_to()))
        })?;
        let plant = deserialized(&row, &self.header)?;
        let json = json!(plant);
        let mut fields = self.header.iter().zip(&row);
        match fields.find(|(name, field)| !is_same(field, json.get(name))) {
            Some((name, "")) => Err(format!("`{name}`: the field is empty")),
            Some((name, field)) => Err(format!("`{name}`: {field:?} is not a number in JSON")),
            None => Ok(plant),
        }
    }

    /// The row as it is in the file.
    fn content(&self, row: &ByteRecord) -> Value {
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

/// The plant of a row, as `csv` reads it.
fn deserialized(row: &StringRecord, header: &StringRecord) -> Result<NewPlant, String> {
    row.deserialize(Some(header)).map_err(|error| match error.kind() {
        ErrorKind::Deserialize { err, .. } => match err.field().map(usize::try_from) {
            Some(Ok(number)) => format!("`{}`: {}", &header[number], err.kind()),
            _ => err.kind().to_string(),
        },
        _ => error.to_string(),
    })
}

/// Whether a field says what was read. `csv` also reads numbers that JSON refuses, such as 0x10,
/// and an empty field as an empty text: here it is an absent member.
fn is_same(field: &str, member: Option<&Value>) -> bool {
    match member {
        Some(Value::String(text)) => field == text && !field.is_empty(),
        Some(member) => serde_json::from_str::<Value>(field).is_ok_and(|field| field == *member),
        // Absent, or no member of the contract.
        None => true,
    }
}

/// Fails if the rows of this header cannot be plants.
fn check(header: &StringRecord, ignores_unknown: bool) -> Result<()> {
    if header[0].starts_with("sep=") {
        bail!("the first line tells a spreadsheet the delimiter: remove it, and add --delimiter");
    }
    for (number, name) in header.iter().enumerate() {
        ensure!(
            !header.iter().take(number).any(|other| other == name),
            "the header has the column {name:?} twice: name each once"
        );
        if !is_unknown(name) {
            continue;
        }
        let is_alone = header.len() == 1 || !ignores_unknown;
        let delimiter = DELIMITERS.iter().find(|(delimiter, _)| name.contains(*delimiter));
        if let Some((_, argument)) = delimiter.filter(|_| is_alone) {
            bail!("the header has the column {name:?}: add --delimiter {argument}")
        }
        ensure!(
            ignores_unknown,
            "the header has the unknown column {name:?}: correct it, or add --ignore-unknown"
        );
    }
    // Zeros can be read as numbers and as texts, so what fails is the header.
    match deserialized(&StringRecord::from(vec!["0"; header.len()]), header) {
        Err(error) if error.starts_with("missing field") => {
            bail!("the header has no column of a required member: {error}")
        }
        _ => Ok(()),
    }
}

/// Whether no member of a plant has this name.
fn is_unknown(column: &str) -> bool {
    let mut is_unknown = false;
    // Only its name matters: the value is no plant's.
    let plant = json!({ column: null });
    let _ = serde_ignored::deserialize::<_, _, NewPlant>(plant, |_| is_unknown = true);
    is_unknown
}
