//! The records of a file. A thread of its own reads them, because standard input can make it wait.
//!
//! What is in memory at once does not depend on the size of the file: at most twice as many records
//! as are under way.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, ensure};
use csv::ByteRecord;
use futures::stream::{self, LocalBoxStream, StreamExt};
use indicatif::ProgressBar;
use tokio::sync::mpsc::{Sender, channel};

use super::Arguments;
use super::lines::Lines;
use super::record::Record;
use super::rows::Rows;

/// How the plants are written.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values, with the names of the members in the first line
    Csv,
}

/// The records, in the order of the file.
pub type Records = LocalBoxStream<'static, io::Result<Record>>;

/// A file of plants.
pub struct Source {
    pub records: Records,
    /// Of a CSV file.
    pub header: Option<ByteRecord>,
}

/// A file, or standard input.
pub struct Input {
    bytes: Box<dyn Read + Send>,
    /// In bytes, if it is a file.
    pub size: Option<u64>,
}

impl Input {
    pub fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self { bytes: Box::new(io::stdin()), size: None });
        }
        let cannot_read = || format!("cannot read {}", path.display());
        let file = File::open(path).with_context(cannot_read)?;
        let metadata = file.metadata().with_context(cannot_read)?;
        ensure!(!metadata.is_dir(), "{} is a folder", path.display());
        Ok(Self { size: metadata.is_file().then_some(metadata.len()), bytes: Box::new(file) })
    }
}

impl Source {
    /// Begins to read. The bar shows how far.
    pub fn new(input: Input, arguments: &Arguments, bar: &ProgressBar) -> Result<Self> {
        let bytes = BufReader::new(bar.wrap_read(input.bytes));
        let ahead = arguments.in_flight.into();
        let ignores_unknown = arguments.ignore_unknown;
        if arguments.format() == Format::Jsonl {
            let records = read_ahead(ahead, Lines::new(bytes, ignores_unknown));
            return Ok(Self { records, header: None });
        }
        let rows = Rows::new(bytes, ignores_unknown)
            .with_context(|| format!("cannot read {}", arguments.file.display()))?;
        let header = Some(rows.header().clone());
        Ok(Self { records: read_ahead(ahead, rows), header })
    }
}

/// Reads in a thread, up to the end or the first error.
fn read_ahead(
    ahead: usize,
    records: impl Iterator<Item = io::Result<Record>> + Send + 'static,
) -> Records {
    let (sender, receiver) = channel(ahead);
    thread::spawn(move || send_all(records, &sender));
    // Taken from the thread all at once: to wake it for each would take longer than to read.
    let batches = stream::unfold(receiver, move |mut receiver| async move {
        let mut batch = Vec::with_capacity(ahead);
        let count = receiver.recv_many(&mut batch, ahead).await;
        (count > 0).then(|| (stream::iter(batch), receiver))
    });
    batches.flatten().boxed_local()
}

/// Ends, too, if the import has ended and takes no more records.
fn send_all(
    records: impl Iterator<Item = io::Result<Record>>,
    sender: &Sender<io::Result<Record>>,
) {
    for record in records {
        let is_last = record.is_err();
        if sender.blocking_send(record).is_err() || is_last {
            break;
        }
    }
}
