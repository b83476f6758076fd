//! The records of a file. A thread of its own reads them, because standard input can make it wait.
//!
//! What is in memory at once does not depend on the size of the file: here at most twice as many
//! records as are under way, each of at most 1 MiB.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::Path;
use std::thread;

use crate::types;
use anyhow::{Context, Result, ensure};
use csv::StringRecord;
use futures::stream::{self, LocalBoxStream, StreamExt};
use serde::Deserialize;
use tokio::sync::mpsc::{Sender, channel};

/// The longest record, in bytes. It is the longest body that the service takes by default.
const LONGEST: u64 = 1024 * 1024;

/// A line of the file, or a record of several lines in CSV.
pub struct Record {
    /// The number of its first line, from 1 on.
    pub line: u64,
    /// How many bytes of the file it takes.
    pub bytes: u64,
    /// The plant's id, if it has one: no two with one id are under way at once.
    pub id: Option<i64>,
    /// The body of the request, or why there is none.
    pub plant: Result<Vec<u8>, types::Error>,
}

type Sending = Sender<io::Result<Record>>;

/// Also an error if the import has ended, and takes no more records.
type Sent = io::Result<()>;

/// The records, in the order of the file.
pub type Records = LocalBoxStream<'static, io::Result<Record>>;

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

/// Begins to read a file, and gives its size if that is known.
pub fn open(path: &Path, at_once: usize) -> Result<(Records, Option<u64>)> {
    if path == Path::new("-") {
        return Ok((records(at_once, |sender| lines(io::stdin().lock(), sender)), None));
    }
    let open = || File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = open().with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(!metadata.is_dir(), "{} is a folder", path.display());
    let records = match path.extension().is_some_and(|name| name.eq_ignore_ascii_case("csv")) {
        true => records(at_once, |sender| rows(file, sender)),
        false => records(at_once, |sender| lines(BufReader::new(file), sender)),
    };
    Ok((records, metadata.is_file().then_some(metadata.len())))
}

/// JSON lines. Empty ones are passed over.
fn lines(mut input: impl BufRead, sender: &Sending) -> Sent {
    for line in 1.. {
        let mut text = Vec::new();
        let mut bytes = input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut text)? as u64;
        let too_long = bytes > LONGEST && !text.ends_with(b"\n");
        text.truncate(text.trim_ascii_end().len());
        let plant = match text.trim_ascii_start() {
            _ if bytes == 0 => break,
            _ if too_long => Err(refusal(413, "the line is longer than 1 MiB")),
            b"" => continue,
            _ => Ok(text),
        };
        if too_long {
            bytes += input.skip_until(b'\n')? as u64;
        }
        let id = plant.as_deref().ok().and_then(id);
        sender.blocking_send(Ok(Record { line, bytes, id, plant })).map_err(io::Error::other)?;
    }
    Ok(())
}

fn id(json: &[u8]) -> Option<i64> {
    #[derive(Deserialize)]
    struct Plant {
        id: i64,
    }
    serde_json::from_slice(json).ok().map(|Plant { id }| id)
}

/// CSV (RFC 4180) with a header. An empty field is an absent member, if that member may be absent.
fn rows(file: impl Read, sender: &Sending) -> Sent {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file.take(0));
    let (mut header, mut row) = (StringRecord::new(), StringRecord::new());
    read(&mut reader, &mut header)?;
    // The LF of a CRLF is read, and counted, with the next record.
    let uncounted = 2u64.saturating_sub(reader.position().line());
    loop {
        let (line, start) = (reader.position().line() + uncounted, reader.position().byte());
        let plant = match read(&mut reader, &mut row) {
            Ok(false) => return Ok(()),
            Ok(true) => row.deserialize::<types::NewPlant>(Some(&header)),
            Err(error) if error.is_io_error() => return Err(error.into()),
            Err(error) => Err(error),
        };
        let bytes = reader.position().byte() - start;
        let id = plant.as_ref().ok().map(|plant| plant.id);
        let plant = plant.map_err(|error| refusal(400, &error.to_string()));
        let plant = plant.map(|plant| serde_json::to_vec(&plant).expect("a plant can be JSON"));
        sender.blocking_send(Ok(Record { line, bytes, id, plant })).map_err(io::Error::other)?;
    }
}

/// Reads a record, or fails: without a limit, a quote that is not closed would have the rest of the
/// file read into memory.
fn read(reader: &mut csv::Reader<Take<impl Read>>, record: &mut StringRecord) -> csv::Result<bool> {
    // It reads up to 8 KiB ahead.
    reader.get_mut().set_limit(LONGEST + 8 * 1024);
    let read = reader.read_record(record);
    match reader.get_ref().limit() {
        // To the reader this is the end of the file, and what it says of the record is of no use.
        0 => Err(io::Error::other("a record is longer than 1 MiB: is a quote not closed?").into()),
        _ => read,
    }
}

fn refusal(error: i32, message: &str) -> types::Error {
    types::Error { error, message: message.to_owned() }
}
