//! The records of a file. A thread of its own reads them, because standard input can make it wait.
//!
//! What is in memory at once does not depend on the size of the file: here at most twice as many
//! records as are under way, each of at most 1 MiB.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use futures::stream::{self, LocalBoxStream, StreamExt};
use tokio::sync::mpsc::{Sender, channel};

use super::advice::advice;
use super::format::{BYTE_ORDER_MARK, Format};
use super::lines::Lines;
use super::record::Record;
use super::rows::Rows;
use super::unpack::{Input, Peeked, Unpacked, peek, unpack};

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

/// How a file is read.
pub struct Reading {
    /// Without one, the name of the file decides.
    pub format: Option<Format>,
    /// Whether a column that the contract does not have is left out.
    pub ignores_unknown: bool,
    /// How many records are read ahead.
    pub ahead: usize,
}

impl Source {
    /// Begins to read a file, and the header of a CSV file.
    pub fn open(path: &Path, reading: &Reading) -> Result<Self> {
        let format = reading.format.unwrap_or_else(|| Format::of_name(path));
        let cannot_import = || format!("cannot import {}", path.display());
        let Opened { input, size } = Opened::new(path)?;
        let unpacked = peek(input).and_then(unpack).with_context(cannot_import)?;
        let Unpacked { input, was_packed } = unpacked;
        // How much packed records take is not known before the end.
        let size = size.filter(|_| !was_packed);
        let Peeked { head, mut input } = peek(input).with_context(cannot_import)?;
        if let Some(advice) = advice(&head, format) {
            bail!("{}: {advice}", cannot_import());
        }
        if format == Format::Csv {
            let rows = Rows::new(input, reading.ignores_unknown).with_context(cannot_import)?;
            let header = rows.header().to_vec();
            return Ok(Self { records: of_rows(rows, reading.ahead), format, header, size });
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            input.consume(BYTE_ORDER_MARK.len());
        }
        let records = of_lines(Lines::new(input), reading.ahead);
        Ok(Self { records, format, header: Vec::new(), size })
    }
}

/// A file, or standard input.
struct Opened {
    input: Input,
    /// In bytes, if it is a file.
    size: Option<u64>,
}

impl Opened {
    fn new(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self { input: Box::new(BufReader::new(io::stdin())), size: None });
        }
        let cannot_read = || format!("cannot read {}", path.display());
        let file = File::open(path).with_context(cannot_read)?;
        let metadata = file.metadata().with_context(cannot_read)?;
        ensure!(!metadata.is_dir(), "{} is a folder", path.display());
        let size = metadata.is_file().then_some(metadata.len());
        Ok(Self { input: Box::new(BufReader::new(file)), size })
    }
}

fn of_lines(mut lines: Lines<Input>, ahead: usize) -> Records {
    read_ahead(ahead, move || lines.next())
}

fn of_rows(mut rows: Rows<Input>, ahead: usize) -> Records {
    read_ahead(ahead, move || rows.next())
}

/// The records that `next` gives in a thread, up to its end or its first error.
fn read_ahead(
    ahead: usize,
    next: impl FnMut() -> io::Result<Option<Record>> + Send + 'static,
) -> Records {
    let (sender, receiver) = channel(ahead);
    thread::spawn(move || send_all(next, &sender));
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
    mut next: impl FnMut() -> io::Result<Option<Record>>,
    sender: &Sender<io::Result<Record>>,
) {
    while let Some(record) = next().transpose() {
        let is_last = record.is_err();
        if sender.blocking_send(record).is_err() || is_last {
            break;
        }
    }
}
