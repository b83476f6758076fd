//! The rows of a CSV file (RFC 4180) as JSON objects.
//!
//! The header must name the members of the contract. What a row holds is not judged here: the
//! service gets its fields as they are, and answers.

use std::io::{self, BufRead, BufReader, Read};

use anyhow::{Result, anyhow};
use csv::{ByteRecord, Reader, ReaderBuilder};
use serde_json::Value;

use super::members::{MEMBERS, Member};
use super::source::LONGEST;

/// The rows after a header.
pub struct Rows<R> {
    reader: Reader<Lines<R>>,
    columns: Vec<&'static Member>,
    row: ByteRecord,
}

/// A row.
pub struct Row {
    /// The number of its first line, from 1 on.
    pub line: u64,
    /// How many bytes of the file it takes.
    pub bytes: u64,
    /// A JSON object with the fields that are not empty, or why the row is none.
    pub object: Result<Vec<u8>, String>,
}

impl<R: Read> Rows<R> {
    /// Reads the header. Fails if it does not name the members of the contract.
    pub fn new(file: R) -> Result<Self> {
        let lines = Lines::new(file);
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(lines);
        let mut rows = Self { reader, columns: Vec::new(), row: ByteRecord::new() };
        rows.read()?;
        rows.columns = columns(&rows.row).map_err(|found| {
            anyhow!("{found}; expected is a header with {}, separated by commas", expected())
        })?;
        Ok(rows)
    }

    /// The next row, `None` at the end of the file.
    pub fn next(&mut self) -> io::Result<Option<Row>> {
        if !self.read()? {
            return Ok(None);
        }
        let Record { line, bytes, place } = self.reader.get_ref().record;
        let (fields, columns) = (self.row.len(), self.columns.len());
        let object = if matches!(place, Place::Quoted | Place::Wrong) {
            let last = self.reader.get_ref().number;
            let lines =
                if line == last { String::new() } else { format!(" (lines {line} to {last})") };
            Err(format!("a quote in the row is neither doubled nor at an end of its field{lines}"))
        } else if fields == columns {
            Ok(self.object())
        } else {
            Err(format!("the row has {fields} fields, the header has {columns}"))
        };
        Ok(Some(Row { line, bytes, object }))
    }

    /// Reads a record. Fails if it ends with a CR alone, which the reader would take for the end of
    /// a line.
    fn read(&mut self) -> io::Result<bool> {
        self.reader.get_mut().record = Record::default();
        let has_more = self.reader.read_byte_record(&mut self.row)?;
        let (lines, taken) = (self.reader.get_ref(), self.reader.position().byte());
        let untaken = usize::try_from(lines.total - taken).expect("it is within a line");
        match &lines.text[lines.text.len() - untaken..] {
            // After a CRLF, the reader takes the LF with the next record.
            b"" | b"\n" => Ok(has_more),
            _ => Err(io::Error::other(format!(
                "line {} has a CR that no LF follows: end the lines with LF or CRLF",
                lines.record.line
            ))),
        }
    }

    fn object(&self) -> Vec<u8> {
        let mut object = b"{".to_vec();
        let fields = self.columns.iter().zip(&self.row).filter(|(_, field)| !field.is_empty());
        for (member, field) in fields {
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
}

/// The members of the columns, or what is wrong with the header.
fn columns(header: &ByteRecord) -> Result<Vec<&'static Member>, String> {
    let mut columns: Vec<&Member> = Vec::new();
    for name in header {
        let found = MEMBERS.iter().find(|member| member.name.as_bytes() == name);
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

/// Gives the CSV reader one line at a time. So the reader never reads beyond the line in which a
/// record ends, and the record's place in the file is known.
struct Lines<R> {
    input: BufReader<R>,
    /// The last line, and how many of its bytes the reader has.
    text: Vec<u8>,
    given: usize,
    /// The number of the last line.
    number: u64,
    /// The bytes of all lines that the reader has or is being given.
    total: u64,
    record: Record,
}

/// The lines of the record that is being read.
#[derive(Clone, Copy, Default)]
struct Record {
    line: u64,
    bytes: u64,
    place: Place,
}

/// Where the text so far ends, by the grammar of RFC 4180, section 2. The CSV reader takes a quote
/// anywhere, and would make another plant of the row.
#[derive(Clone, Copy, Default)]
enum Place {
    #[default]
    FieldStart,
    Plain,
    Quoted,
    /// After a quote that ends the field, or is the first one of a doubled quote.
    AfterQuote,
    Wrong,
}

impl Place {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Wrong, _) | (Self::Plain, b'"') => Self::Wrong,
            (Self::Quoted, b'"') => Self::AfterQuote,
            (Self::FieldStart | Self::AfterQuote, b'"') | (Self::Quoted, _) => Self::Quoted,
            (_, b',') => Self::FieldStart,
            (_, b'\r' | b'\n') => self,
            (Self::AfterQuote, _) => Self::Wrong,
            (Self::FieldStart | Self::Plain, _) => Self::Plain,
        }
    }
}

impl<R: Read> Lines<R> {
    fn new(input: R) -> Self {
        let (input, record) = (BufReader::new(input), Record::default());
        Self { input, text: Vec::new(), given: 0, number: 0, total: 0, record }
    }

    /// Reads a line that is not empty, or the end of the file. A record may not be longer than
    /// [`LONGEST`]: a quote that is not closed would have the rest of the file read into memory.
    fn read_line(&mut self) -> io::Result<()> {
        self.given = 0;
        loop {
            self.text.clear();
            let limit = LONGEST + 1 - self.record.bytes;
            let bytes = self.input.by_ref().take(limit).read_until(b'\n', &mut self.text)? as u64;
            if bytes == 0 {
                return Ok(());
            }
            self.number += 1;
            if self.record.bytes == 0 {
                self.record.line = self.number;
                if matches!(self.text.as_slice(), b"\n" | b"\r\n") {
                    continue;
                }
            }
            self.total += bytes;
            self.record.bytes += bytes;
            let place = self.record.place;
            self.record.place = self.text.iter().fold(place, |place, byte| place.after(*byte));
            return match self.record.bytes {
                ..=LONGEST => Ok(()),
                _ => Err(io::Error::other(format!(
                    "the record from line {} on is longer than 1 MiB: is a quote not closed?",
                    self.record.line
                ))),
            };
        }
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() {
            self.read_line()?;
        }
        let given = (&self.text[self.given..]).read(buffer)?;
        self.given += given;
        Ok(given)
    }
}
