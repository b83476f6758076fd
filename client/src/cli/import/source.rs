//! The records of a file. A thread of its own reads them, because standard input can make it wait.
//!
//! What is in memory at once does not depend on the size of the file: here at most twice as many
//! records as are under way, each of at most 1 MiB.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::thread;

use crate::{ErrorCode, types};
use anyhow::{Context, Result, ensure};
use futures::stream::{self, LocalBoxStream, StreamExt};
use serde::Deserialize;
use tokio::sync::mpsc::{Sender, channel};

use super::rows::{Row, Rows};

/// The longest record, in bytes. It is the longest body that the service takes by default.
pub const LONGEST: u64 = 1024 * 1024;

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

/// Begins to read a file, and gives its size if that is known. Reads the header of a CSV file.
pub fn open(path: &Path, at_once: usize) -> Result<(Records, Option<u64>)> {
    if path == Path::new("-") {
        return Ok((records(at_once, |sender| lines(io::stdin().lock(), sender)), None));
    }
    let open = || File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = open().with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(!metadata.is_dir(), "{} is a folder", path.display());
    let records = match path.extension().is_some_and(|name| name.eq_ignore_ascii_case("csv")) {
        true => {
            let table =
                Rows::new(file).with_context(|| format!("cannot import {}", path.display()))?;
            records(at_once, |sender| rows(table, sender))
        }
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
            _ if too_long => {
                Err(refusal(ErrorCode::ContentTooLarge, "the line is longer than 1 MiB"))
            }
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

/// The rows of a CSV file, as JSON objects.
fn rows(mut rows: Rows<File>, sender: &Sending) -> Sent {
    while let Some(Row { line, bytes, object }) = rows.next()? {
        let id = object.as_deref().ok().and_then(id);
        let plant = object.map_err(|message| refusal(ErrorCode::BadRequest, &message));
        sender.blocking_send(Ok(Record { line, bytes, id, plant })).map_err(io::Error::other)?;
    }
    Ok(())
}

fn refusal(code: ErrorCode, message: &str) -> types::Error {
    types::Error { error: code.number(), message: message.to_owned() }
}
