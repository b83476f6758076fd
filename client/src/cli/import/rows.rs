//! The rows of a CSV file as JSON objects, read by the crate `csv`.
//!
//! The header must name the members of the contract. What a row holds is not judged here: the
//! service gets its fields as they are, and answers. Only a row is refused that a reader could take
//! for another one: with a quote that is not closed, or with too many or too few fields.

use std::io::{self, BufRead};

use anyhow::Result;
use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use serde_json::Value;

use super::count::count;
use super::header::{Column, InvalidHeader, columns};
use super::record::Record;
use super::recording::{RawRow, RecordingReader};

/// Why a row is not sent.
#[derive(Debug, thiserror::Error)]
enum InvalidRow {
    /// RFC 4180, section 2: each field has an even number of quotes.
    #[error("a quote in the row is neither doubled nor at an end of its field")]
    Quote,
    #[error(
        "a quote in the row is neither doubled nor at an end of its field (lines {first} to {last})"
    )]
    QuoteInLines { first: u64, last: u64 },
    #[error("the row has {found} fields, the header has {expected}")]
    Fields { found: usize, expected: usize },
}

/// The rows after a header.
pub struct Rows<R> {
    reader: Reader<RecordingReader<R>>,
    columns: Vec<Column>,
    /// With the end of its line.
    header: Vec<u8>,
}

/// A row.
struct Row {
    raw: RawRow,
    fields: ByteRecord,
}

impl<R: BufRead> Rows<R> {
    /// Reads the header. Fails if it does not name the members of the contract. A column that the
    /// contract does not have is left out if `ignores_unknown` says so.
    pub fn new(input: R, ignores_unknown: bool) -> Result<Self> {
        let recording = RecordingReader::new(input);
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(recording);
        let mut rows = Self { reader, columns: Vec::new(), header: Vec::new() };
        let header = rows.read()?.ok_or(InvalidHeader::Missing)?;
        rows.columns = columns(&header.fields, ignores_unknown)?;
        rows.header = header.raw.text;
        rows.header.push(b'\n');
        Ok(rows)
    }

    /// The header as it is in the file.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// The next row, `None` at the end of the file.
    pub fn next(&mut self) -> io::Result<Option<Record>> {
        let Some(row) = self.read()? else { return Ok(None) };
        let body = self.body(&row).map(Into::into).map_err(|error| error.to_string());
        Ok(Some(Record::new(row.raw.first_line, row.raw.text.into(), body)))
    }

    /// A JSON object with the fields that are not empty, or why the row is none.
    fn body(&self, row: &Row) -> Result<Vec<u8>, InvalidRow> {
        let RawRow { first_line, last_line, text } = &row.raw;
        let has_open_quote = !count(text, b'"').is_multiple_of(2);
        if has_open_quote && first_line == last_line {
            return Err(InvalidRow::Quote);
        }
        if has_open_quote {
            return Err(InvalidRow::QuoteInLines { first: *first_line, last: *last_line });
        }
        let found = row.fields.len();
        let expected = self.columns.len();
        if found != expected {
            return Err(InvalidRow::Fields { found, expected });
        }
        Ok(object(&self.columns, &row.fields))
    }

    /// Reads a row and passes over empty lines before it.
    fn read(&mut self) -> io::Result<Option<Row>> {
        let mut fields = ByteRecord::new();
        let is_there = self.reader.read_byte_record(&mut fields).map_err(cause)?;
        if !is_there {
            return Ok(None);
        }
        let end = self.reader.position().byte();
        let input = self.reader.get_mut();
        let raw = input.take_row(end);
        // The reader takes a lone CR for the end of a line. It is one of Mac OS 9, or a fault.
        if raw.text.ends_with(b"\r") && !matches!(input.peek()?, None | Some(b'\n')) {
            return Err(io::Error::other(format!(
                "line {} has a CR that no LF follows: end the lines with LF or CRLF",
                raw.first_line
            )));
        }
        Ok(Some(Row { raw, fields }))
    }
}

/// An I/O error as it is.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// The fields that are not empty, as members.
fn object(columns: &[Column], fields: &ByteRecord) -> Vec<u8> {
    let mut object = b"{".to_vec();
    for (column, field) in columns.iter().zip(fields) {
        let Some(member) = column.filter(|_| !field.is_empty()) else { continue };
        if object.len() > 1 {
            object.push(b',');
        }
        push_string(&mut object, member.name.as_bytes());
        object.push(b':');
        if member.kind.is_text() || !is_json(field) {
            push_string(&mut object, field);
        } else {
            object.extend_from_slice(field);
        }
    }
    object.push(b'}');
    object
}

/// Whether a field is a number or a boolean as JSON writes it. Others are sent as strings, so that
/// the service can say what it expected.
fn is_json(field: &[u8]) -> bool {
    let has_spaces = field.trim_ascii().len() < field.len();
    let value = serde_json::from_slice(field);
    !has_spaces && matches!(value, Ok(Value::Number(_) | Value::Bool(_)))
}

/// Adds a JSON string with these bytes. Bytes that are not UTF-8 stay as they are, for the service
/// to refuse.
fn push_string(json: &mut Vec<u8>, text: &[u8]) {
    json.push(b'"');
    for byte in text {
        match byte {
            b'"' | b'\\' => json.extend([b'\\', *byte]),
            ..b' ' => json.extend(format!("\\u{byte:04x}").into_bytes()),
            _ => json.push(*byte),
        }
    }
    json.push(b'"');
}
