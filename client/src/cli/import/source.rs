//! The stream of records in a file. A thread reads them, because reading a pipe blocks.
//!
//! Memory does not grow with the file: at most twice as many records are buffered as are in flight.

use std::io::{self, BufReader};

use anyhow::Result;
use futures::stream::{self, LocalBoxStream, StreamExt};
use indicatif::ProgressBar;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::spawn_blocking;

use super::arguments::{Arguments, Format};
use super::lines::Lines;
use super::record::Record;
use super::rows::Rows;
use crate::cli::input;

/// The records, in the order of the file.
pub type Records = LocalBoxStream<'static, io::Result<Record>>;

type RecordIterator = Box<dyn Iterator<Item = io::Result<Record>> + Send>;

/// Opens the file and starts to read it. The bar shows the position. Fails if the file cannot
/// contain plants.
pub async fn records(arguments: Arguments, bar: ProgressBar) -> Result<Records> {
    let ahead = arguments.in_flight.into();
    let file = arguments.file.clone();
    let records = spawn_blocking(move || input::with_name(&file, open(&arguments, &bar)));
    Ok(read_ahead(ahead, records.await??))
}

fn open(arguments: &Arguments, bar: &ProgressBar) -> Result<RecordIterator> {
    let format = arguments.format()?;
    let bytes = BufReader::new(input::utf_8(bar.wrap_read(input::open(&arguments.file)?))?);
    Ok(match format {
        Format::Jsonl => Box::new(Lines::new(bytes, arguments.ignore_unknown)),
        Format::Csv => Box::new(Rows::new(bytes, arguments.delimiter(), arguments.ignore_unknown)?),
    })
}

/// Reads the records on a thread, up to the end of the file or the first error.
fn read_ahead(ahead: usize, records: RecordIterator) -> Records {
    let (sender, receiver) = channel(ahead);
    spawn_blocking(move || send_all(records, &sender));
    // Receives all waiting records at once: waking the thread for each would take longer than
    // reading it.
    let batches = stream::unfold(receiver, move |mut receiver| async move {
        let mut batch = Vec::with_capacity(ahead);
        let count = receiver.recv_many(&mut batch, ahead).await;
        (count > 0).then(|| (stream::iter(batch), receiver))
    });
    batches.flatten().boxed_local()
}

/// Sends records until the end of the file, the first error, or the end of the import.
fn send_all(records: RecordIterator, sender: &Sender<io::Result<Record>>) {
    for record in records {
        let is_last = record.is_err();
        if sender.blocking_send(record).is_err() || is_last {
            break;
        }
    }
}
