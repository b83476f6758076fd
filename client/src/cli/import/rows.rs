//! The rows of a CSV file as JSON objects.
//!
//! They are read by the grammar of RFC 4180, section 2, and by nothing more lenient: that could make
//! another plant of a row. The header must name the members of the contract. What a row holds is not
//! judged here: the service gets its fields as they are, and answers.

use std::io::{self, BufRead, Read};

use anyhow::{Result, anyhow};
use serde_json::Value;

use super::members::{MEMBERS, Member};
use super::source::{BYTE_ORDER_MARK, LONGEST};

/// The rows after a header.
pub struct Rows<R> {
    input: R,
    /// The number of the last line.
    line: u64,
    columns: Vec<&'static Member>,
    /// The header as it is in the file, with the end of its line.
    pub header: Vec<u8>,
}

/// A row.
pub struct Row {
    /// The number of its first line, from 1 on.
    pub line: u64,
    /// As it is in the file, without the end of its last line.
    pub text: Vec<u8>,
    /// A JSON object with the fields that are not empty, or why the row is none.
    pub object: Result<Vec<u8>, String>,
}

impl<R: BufRead> Rows<R> {
    /// Reads the header. Fails if it does not name the members of the contract.
    pub fn new(input: R) -> Result<Self> {
        let mut rows = Self { input, line: 0, columns: Vec::new(), header: Vec::new() };
        let header = rows.read()?.unwrap_or_default();
        rows.header = [&header.text[..], b"\n"].concat();
        rows.columns = columns(&header.fields).map_err(|found| {
            anyhow!("{found}; expected is a header with {}, separated by commas", expected())
        })?;
        Ok(rows)
    }

    /// The next row, `None` at the end of the file.
    pub fn next(&mut self) -> io::Result<Option<Row>> {
        let Some(Record { line, text, fields, place }) = self.read()? else { return Ok(None) };
        let (count, columns) = (fields.len(), self.columns.len());
        let object = if matches!(place, Place::Quoted | Place::Wrong) {
            let lines = match self.line {
                last if last == line => String::new(),
                last => format!(" (lines {line} to {last})"),
            };
            Err(format!("a quote in the row is neither doubled nor at an end of its field{lines}"))
        } else if count == columns {
            Ok(object(&self.columns, &fields))
        } else {
            Err(format!("the row has {count} fields, the header has {columns}"))
        };
        Ok(Some(Row { line, text, object }))
    }

    /// Reads a record and passes over empty lines before it. A record may not be longer than
    /// [`LONGEST`]: a quote that is not closed would have the rest of the file read into memory.
    fn read(&mut self) -> io::Result<Option<Record>> {
        let mut record = Record::default();
        loop {
            let start = record.text.len();
            let limit = LONGEST + 1 - start as u64;
            if self.input.by_ref().take(limit).read_until(b'\n', &mut record.text)? == 0 {
                break;
            }
            self.line += 1;
            if start == 0 {
                record.line = self.line;
                if matches!(record.text.as_slice(), b"\n" | b"\r\n") {
                    record.text.clear();
                    continue;
                }
            }
            let line = record.line;
            if record.text.len() as u64 > LONGEST {
                return Err(io::Error::other(format!(
                    "the record from line {line} on is longer than 1 MiB: is a quote not closed?"
                )));
            }
            if !record.add_line(start) {
                return Err(io::Error::other(format!(
                    "line {line} has a CR that no LF follows: end the lines with LF or CRLF"
                )));
            }
            if record.place != Place::Quoted {
                break;
            }
        }
        record.text.truncate(record.text.strip_suffix(b"\n").unwrap_or(&record.text).len());
        Ok((!record.fields.is_empty()).then_some(record))
    }
}

/// A record, and where its text so far ends.
#[derive(Default)]
struct Record {
    line: u64,
    text: Vec<u8>,
    fields: Vec<Vec<u8>>,
    place: Place,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    FieldStart,
    Plain,
    Quoted,
    /// After a quote that ends the field, or is the first one of a doubled quote.
    AfterQuote,
    Wrong,
}

impl Record {
    /// Takes the fields from the line that begins there. Fails if a CR outside of quotes does not end
    /// the line.
    fn add_line(&mut self, start: usize) -> bool {
        let line = &self.text[start..];
        let line = match start {
            0 => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            _ => line,
        };
        if self.fields.is_empty() {
            self.fields.push(Vec::new());
        }
        for (index, byte) in line.iter().enumerate() {
            let (place, letter) = match (self.place, byte) {
                (Place::Quoted, b'"') => (Place::AfterQuote, None),
                (Place::Quoted, _) => (Place::Quoted, Some(*byte)),
                (_, b'\r') if !matches!(line.get(index + 1), None | Some(b'\n')) => return false,
                (place, b'\r' | b'\n') => (place, None),
                (Place::Wrong, _) | (Place::Plain, b'"') => (Place::Wrong, Some(*byte)),
                (Place::FieldStart, b'"') => (Place::Quoted, None),
                (Place::AfterQuote, b'"') => (Place::Quoted, Some(b'"')),
                (_, b',') => {
                    self.fields.push(Vec::new());
                    (Place::FieldStart, None)
                }
                (Place::AfterQuote, _) => (Place::Wrong, Some(*byte)),
                (Place::FieldStart | Place::Plain, _) => (Place::Plain, Some(*byte)),
            };
            if let (Some(letter), Some(field)) = (letter, self.fields.last_mut()) {
                field.push(letter);
            }
            self.place = place;
        }
        true
    }
}

/// The fields that are not empty, as members.
fn object(columns: &[&Member], fields: &[Vec<u8>]) -> Vec<u8> {
    let mut object = b"{".to_vec();
    for (member, field) in columns.iter().zip(fields).filter(|(_, field)| !field.is_empty()) {
        if object.len() > 1 {
            object.push(b',');
        }
        push_string(&mut object, member.name.as_bytes());
        object.push(b':');
        match member.is_text || !is_json(field) {
            true => push_string(&mut object, field),
            false => object.extend_from_slice(field),
        }
    }
    object.push(b'}');
    object
}

/// The members of the columns, or what is wrong with the header.
fn columns(header: &[Vec<u8>]) -> Result<Vec<&'static Member>, String> {
    let mut columns: Vec<&Member> = Vec::new();
    for name in header {
        let found = MEMBERS.iter().find(|member| member.name.as_bytes() == *name);
        let shown: String = String::from_utf8_lossy(name).chars().take(64).collect();
        match found {
            None if header.len() == 1 && name.is_empty() => break,
            None => return Err(format!("the header has the unknown column {shown:?}")),
            Some(member) if columns.iter().any(|column| column.name == member.name) => {
                return Err(format!("the header has the column {shown:?} twice"));
            }
            Some(member) => columns.push(member),
        }
    }
    let mut required = MEMBERS.iter().filter(|member| member.is_required);
    match required.find(|member| columns.iter().all(|column| column.name != member.name)) {
        _ if columns.is_empty() => Err("the file has no header".to_owned()),
        Some(missing) => Err(format!("the header has no column {:?}", missing.name)),
        None => Ok(columns),
    }
}

/// The columns that a header may have.
fn expected() -> String {
    let column = |member: &Member| match member.is_required {
        true => member.name.to_owned(),
        false => format!("{} (optional)", member.name),
    };
    MEMBERS.iter().map(column).collect::<Vec<_>>().join(", ")
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
