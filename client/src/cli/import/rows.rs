//! The rows of a CSV file as JSON objects, read by the crate `csv`.
//!
//! The header must name the members of the contract. What a row holds is not judged here: the
//! service gets its fields as they are, and answers. Only a row is refused that a reader could take
//! for another one: with a quote that is not closed, or with too many or too few fields.

use std::io::{self, BufRead, Read};

use anyhow::{Result, anyhow};
use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use serde_json::Value;

use super::record::{LONGEST, Record};
use crate::cli::members::{Body, Member};
use crate::types::NewPlant;

/// The rows after a header.
pub struct Rows<R> {
    reader: Reader<Kept<R>>,
    columns: Vec<Column>,
    /// With the end of its line.
    header: Vec<u8>,
}

/// The member that a column has, or `None` if it is left out.
type Column = Option<&'static Member>;

/// A row.
struct Row {
    raw: RawRow,
    fields: ByteRecord,
}

/// A row as it is in the file.
struct RawRow {
    /// The number of its first line, from 1 on.
    first_line: u64,
    last_line: u64,
    /// Without the end of its last line.
    text: Vec<u8>,
}

impl<R: BufRead> Rows<R> {
    /// Reads the header. Fails if it does not name the members of the contract. A column that it
    /// does not have is left out if `ignores_unknown` says so.
    pub fn new(input: R, ignores_unknown: bool) -> Result<Self> {
        let reader =
            ReaderBuilder::new().has_headers(false).flexible(true).from_reader(Kept::new(input));
        let mut rows = Self { reader, columns: Vec::new(), header: Vec::new() };
        let header = rows.read()?;
        let columns = match &header {
            Some(header) => columns(&header.fields, ignores_unknown),
            None => Err("the file has no header".to_owned()),
        };
        rows.columns = columns.map_err(|found| {
            anyhow!("{found}; expected is a header with {}, separated by commas", expected())
        })?;
        rows.header = header.map_or_else(Vec::new, |header| header.raw.text);
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
        let body = self.body(&row).map(Into::into);
        Ok(Some(Record::new(row.raw.first_line, row.raw.text.into(), body)))
    }

    /// A JSON object with the fields that are not empty, or why the row is none.
    fn body(&self, row: &Row) -> Result<Vec<u8>, String> {
        let RawRow { first_line, last_line, text } = &row.raw;
        let quotes = count(text, b'"');
        // Each field that has quotes has an even number of them (RFC 4180, section 2).
        if !quotes.is_multiple_of(2) {
            let fault = "a quote in the row is neither doubled nor at an end of its field";
            return Err(if first_line == last_line {
                fault.to_owned()
            } else {
                format!("{fault} (lines {first_line} to {last_line})")
            });
        }
        let found = row.fields.len();
        let expected = self.columns.len();
        if found != expected {
            return Err(format!("the row has {found} fields, the header has {expected}"));
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
        let kept = self.reader.get_mut();
        let raw = kept.take(end);
        // The reader takes a lone CR for the end of a line. It is one of Mac OS 9, or a fault.
        if raw.text.ends_with(b"\r") && !matches!(kept.peek()?, None | Some(b'\n')) {
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

/// An input that keeps what the reader of CSV has taken, until its row is complete.
struct Kept<R> {
    input: R,
    /// From the end of the last row on.
    bytes: Vec<u8>,
    /// How many bytes came before them.
    begin: u64,
    /// How many line ends came before them.
    lines: u64,
}

impl<R: BufRead> Kept<R> {
    fn new(input: R) -> Self {
        Self { input, bytes: Vec::new(), begin: 0, lines: 0 }
    }

    /// Takes the row that ends before this byte of the input, without the empty lines before it.
    fn take(&mut self, end: u64) -> RawRow {
        let length = usize::try_from(end - self.begin).expect("they are in memory");
        self.begin = end;
        let mut text: Vec<u8> = self.bytes.drain(..length).collect();
        let empty = text.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let first_line = self.lines + 1 + line_ends(&text[..empty]);
        self.lines += line_ends(&text);
        text.drain(..empty);
        if text.ends_with(b"\n") {
            text.pop();
        }
        RawRow { first_line, last_line: first_line + line_ends(&text), text }
    }

    /// The first byte that was not taken.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        match self.bytes.first() {
            Some(byte) => Ok(Some(*byte)),
            None => Ok(self.input.fill_buf()?.first().copied()),
        }
    }
}

impl<R: BufRead> Read for Kept<R> {
    /// Fails if a row is longer than [`LONGEST`]: a quote that is not closed would have the rest of
    /// the file read into memory.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes.len() as u64 > LONGEST {
            let line = self.lines + 1;
            return Err(io::Error::other(format!(
                "the record from line {line} on is longer than 1 MiB: is a quote not closed?"
            )));
        }
        let count = self.input.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

fn line_ends(text: &[u8]) -> u64 {
    count(text, b'\n')
}

fn count(text: &[u8], wanted: u8) -> u64 {
    text.split(|byte| *byte == wanted).skip(1).count() as u64
}

/// The columns that a header names, or what is wrong with it.
fn columns(header: &ByteRecord, ignores_unknown: bool) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = Vec::new();
    for name in header {
        let member = NewPlant::MEMBERS.iter().find(|member| member.name.as_bytes() == name);
        let shown: String = String::from_utf8_lossy(name).chars().take(64).collect();
        match member {
            None if !ignores_unknown => {
                return Err(format!("the header has the unknown column {shown:?}"));
            }
            Some(member) if has(&columns, member) => {
                return Err(format!("the header has the column {shown:?} twice"));
            }
            column => columns.push(column),
        }
    }
    let mut required = NewPlant::MEMBERS.iter().filter(|member| member.is_required);
    match required.find(|member| !has(&columns, member)) {
        Some(missing) => Err(format!("the header has no column {:?}", missing.name)),
        None => Ok(columns),
    }
}

fn has(columns: &[Column], member: &Member) -> bool {
    columns.iter().flatten().any(|column| column.name == member.name)
}

/// The columns that a header may have.
fn expected() -> String {
    let column = |member: &Member| {
        if member.is_required {
            member.name.to_owned()
        } else {
            format!("{} (optional)", member.name)
        }
    };
    NewPlant::MEMBERS.iter().map(column).collect::<Vec<_>>().join(", ")
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
