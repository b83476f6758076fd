//! The records of a file. Threads read them, because a pipe can make them wait.
//!
//! What is in memory at once does not depend on the size of the file: at most twice as many records
//! as are under way.

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

type Reading = Box<dyn Iterator<Item = io::Result<Record>> + Send>;

/// Begins to read. The bar shows how far. Fails if the file cannot be one of plants.
pub async fn records(arguments: Arguments, bar: ProgressBar) -> Result<Records> {
    let ahead = arguments.in_flight.into();
    let file = arguments.file.clone();
    let reading = spawn_blocking(move || input::named(&file, begin(&arguments, &bar)));
    Ok(read_ahead(ahead, reading.await??))
}

fn begin(arguments: &Arguments, bar: &ProgressBar) -> Result<Reading> {
    let format = arguments.format()?;
    let bytes = BufReader::new(input::text(bar.wrap_read(input::open(&arguments.file)?))?);
    Ok(match format {
        Format::Jsonl => Box::new(Lines::new(bytes, arguments.ignore_unknown)),
        Format::Csv => Box::new(Rows::new(bytes, arguments.delimiter(), arguments.ignore_unknown)?),
    })
}

/// Reads in a thread, up to the end or the first error.
fn read_ahead(ahead: usize, records: Reading) -> Records {
    let (sender, receiver) = channel(ahead);
    spawn_blocking(move || send_all(records, &sender));
    // Taken from the thread all at once: to wake it for each would take longer than to read.
    let batches = stream::unfold(receiver, move |mut receiver| async move {
        let mut batch = Vec::with_capacity(ahead);
        let count = receiver.recv_many(&mut batch, ahead).await;
        (count > 0).then(|| (stream::iter(batch), receiver))
    });
    batches.flatten().boxed_local()
}

/// Ends, too, if the import has ended and takes no more records.
fn send_all(records: Reading, sender: &Sender<io::Result<Record>>) {
    for record in records {
        let is_last = record.is_err();
        if sender.blocking_send(record).is_err() || is_last {
            break;
        }
    }
}
