//! The records of a file. A thread of its own reads them, because standard input can make it wait.
//!
//! What is in memory at once does not depend on the size of the file: here at most twice as many
//! records as are under way, each of at most 1 MiB.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, Write};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use futures::stream::{self, LocalBoxStream, StreamExt};
use serde::Deserialize;
use tokio::sync::mpsc::{Sender, channel};

use super::rows::{Row, Rows};
use crate::{ErrorCode, types};

/// The longest record that is sent, in bytes: more than the longest body that the service takes by
/// default.
pub const LONGEST: u64 = 1024 * 1024;

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

/// A line of the file, or a record of several lines in CSV.
pub struct Record {
    /// The number of its first line, from 1 on.
    pub line: u64,
    /// The plant's id, if it has one: no two with one id are under way at once.
    pub id: Option<i64>,
    /// As it is in the file, without the end of its last line.
    pub text: Bytes,
    /// What is beyond [`LONGEST`], in a file without a name.
    pub rest: Option<File>,
    /// The body of the request, or why there is none.
    pub body: Result<Bytes, types::Error>,
}

impl Record {
    fn new(line: u64, text: Bytes, body: Result<Bytes, String>) -> Self {
        let body = not_utf8(line, &text).map_or(body, Err);
        let body = body.map_err(|message| refusal(ErrorCode::BadRequest, message));
        Self { line, id: body.as_deref().ok().and_then(id), text, rest: None, body }
    }
}

type Input = Box<dyn BufRead + Send>;

type Sending = Sender<io::Result<Record>>;

/// Also an error if the import has ended, and takes no more records.
type Sent = io::Result<()>;

/// The records, in the order of the file.
pub type Records = LocalBoxStream<'static, io::Result<Record>>;

/// A file of plants.
pub struct Source {
    pub records: Records,
    pub format: Format,
    /// The header of a CSV file, as it is in the file.
    pub header: Vec<u8>,
    /// How many bytes the records take, if that is known.
    pub size: Option<u64>,
}

/// Begins to read a file, and the header of a CSV file. Without a format, its name decides.
pub fn open(path: &Path, format: Option<Format>, at_once: usize) -> Result<Source> {
    let format = format.unwrap_or_else(|| format_of(path));
    let (input, size): (Input, _) = if path == Path::new("-") {
        (Box::new(BufReader::new(io::stdin())), None)
    } else {
        let open = || File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = open().with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(!metadata.is_dir(), "{} is a folder", path.display());
        (Box::new(BufReader::new(file)), metadata.is_file().then_some(metadata.len()))
    };
    let cannot_import = || format!("cannot import {}", path.display());
    let (head, input) = peeked(input).with_context(cannot_import)?;
    // How much packed records take is not known before the end.
    let (unpacked, size): (Input, _) = match *head {
        [0x1f, 0x8b, ..] => (Box::new(BufReader::new(MultiGzDecoder::new(input))), None),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            (Box::new(BufReader::new(zstd::Decoder::with_buffer(input)?)), None)
        }
        _ => (input, size),
    };
    let (head, mut input) = peeked(unpacked).with_context(cannot_import)?;
    if let Some(advice) = advice(&head, format) {
        bail!("{}: {advice}", cannot_import());
    }
    let mut header = Vec::new();
    let records = match format {
        Format::Csv => {
            let table = Rows::new(input).with_context(cannot_import)?;
            header.clone_from(&table.header);
            records(at_once, |sender| rows(table, sender))
        }
        Format::Jsonl => {
            if head.starts_with(BYTE_ORDER_MARK) {
                input.consume(BYTE_ORDER_MARK.len());
            }
            records(at_once, |sender| lines(input, sender))
        }
    };
    Ok(Source { records, format, header, size })
}

fn format_of(path: &Path) -> Format {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let is_csv = [".csv", ".csv.gz", ".csv.zst"].iter().any(|ending| name.ends_with(ending));
    if is_csv { Format::Csv } else { Format::Jsonl }
}

/// The first line that is not empty, or its first bytes, and an input that has not lost them.
fn peeked(mut input: Input) -> io::Result<(Vec<u8>, Input)> {
    let mut head = Vec::new();
    while head.len() < 512 && head.trim_ascii().is_empty() {
        if input.by_ref().take(512).read_until(b'\n', &mut head)? == 0 {
            break;
        }
    }
    Ok((head.clone(), Box::new(Cursor::new(head).chain(input))))
}

const ARRAY: &str = "it is a JSON array: make lines of it with jq -c '.[]' (jq 1.7 or later: an older \
                     one rounds large ids)";
const SEVERAL_LINES: &str = "its objects have several lines: make one of each with jq -c . (jq 1.7 or \
                             later: an older one rounds large ids)";

/// What to do with a file that holds plants in another form.
fn advice(head: &[u8], format: Format) -> Option<&'static str> {
    let is_utf_16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    let text = String::from_utf8_lossy(head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head));
    let (text, lines) = (text.trim(), format == Format::Jsonl);
    let mut names = text.split([',', ';', '\t']).map(|name| name.trim_matches([' ', '"']));
    let is_object = text.starts_with('{');
    let is_header = !is_object && names.any(|name| name == "id");
    let forms = [
        (head.starts_with(b"PK\x03\x04"), "it is a zip or a spreadsheet: save it as CSV (UTF-8)"),
        (head.starts_with(b"\xfd7zXZ\0"), "xz has compressed it: unpack it first"),
        (head.starts_with(b"BZh"), "bzip2 has compressed it: unpack it first"),
        (is_utf_16 || head.contains(&0), "it is UTF-16: convert it with iconv -f UTF-16 -t UTF-8"),
        (lines && text.starts_with('['), ARRAY),
        (lines && text == "{", SEVERAL_LINES),
        (lines && is_header, "it looks like CSV: if it is, add --format csv"),
        (!lines && is_object, "it looks like JSON lines: if it is, add --format jsonl"),
    ];
    forms.into_iter().find(|(is_so, _)| *is_so).map(|(_, advice)| advice)
}

fn records(at_once: usize, read: impl FnOnce(&Sending) -> Sent + Send + 'static) -> Records {
    let (sender, receiver) = channel(at_once);
    thread::spawn(move || {
        if let Err(error) = read(&sender) {
            // The import may have ended before.
            let _ = sender.blocking_send(Err(error));
        }
    });
    // Taken from the thread all at once: to wake it for each would take longer than to read.
    let taken = stream::unfold(receiver, move |mut receiver| async move {
        let mut taken = Vec::with_capacity(at_once);
        let count = receiver.recv_many(&mut taken, at_once).await;
        (count > 0).then(|| (stream::iter(taken), receiver))
    });
    taken.flatten().boxed_local()
}

/// JSON lines. Empty ones are passed over.
fn lines(mut input: Input, sender: &Sending) -> Sent {
    for line in 1.. {
        let mut text = Vec::new();
        input.by_ref().take(LONGEST).read_until(b'\n', &mut text)?;
        if text.is_empty() {
            break;
        }
        let is_whole = text.ends_with(b"\n") || (text.len() as u64) < LONGEST;
        if is_whole {
            text.truncate(text.trim_ascii_end().len());
        }
        if text.trim_ascii_start().is_empty() && is_whole {
            continue;
        }
        let text = Bytes::from(text);
        let mut record = Record::new(line, text.clone(), Ok(text));
        if !is_whole {
            let message = "the line is longer than 1 MiB".to_owned();
            (record.id, record.body) = (None, Err(refusal(ErrorCode::ContentTooLarge, message)));
            record.rest = Some(rest_of_line(&mut input)?);
        }
        sender.blocking_send(Ok(record)).map_err(io::Error::other)?;
    }
    Ok(())
}

fn rest_of_line(input: &mut Input) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    let mut part = Vec::new();
    while input.by_ref().take(LONGEST).read_until(b'\n', &mut part)? > 0 {
        file.write_all(part.strip_suffix(b"\n").unwrap_or(&part))?;
        if part.ends_with(b"\n") {
            break;
        }
        part.clear();
    }
    file.rewind()?;
    Ok(file)
}

fn id(json: &[u8]) -> Option<i64> {
    #[derive(Deserialize)]
    struct Plant {
        id: i64,
    }
    serde_json::from_slice(json).ok().map(|Plant { id }| id)
}

/// The rows of a CSV file, as JSON objects.
fn rows(mut rows: Rows<Input>, sender: &Sending) -> Sent {
    while let Some(Row { line, text, object }) = rows.next()? {
        let record = Record::new(line, text.into(), object.map(Bytes::from));
        sender.blocking_send(Ok(record)).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Where a text is not UTF-8, and what to do. An editor shows the same line and column.
fn not_utf8(line: u64, text: &[u8]) -> Option<String> {
    let valid = &text[..str::from_utf8(text).err()?.valid_up_to()];
    let last_line = valid.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line + valid.split(|byte| *byte == b'\n').skip(1).count() as u64;
    let column = String::from_utf8_lossy(last_line).chars().count() + 1;
    let byte = text[valid.len()];
    Some(format!(
        "the byte 0x{byte:02X} at line {line} column {column} is not UTF-8: if the file is Latin-1, \
         convert it with iconv -f WINDOWS-1252 -t UTF-8"
    ))
}

pub fn refusal(code: ErrorCode, message: String) -> types::Error {
    types::Error { error: code.number(), message }
}
