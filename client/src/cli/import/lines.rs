//! The lines of a file. A thread reads them, because reading a pipe blocks.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result};
use futures::{Stream, stream};
use tokio::sync::mpsc;

/// The length limit of a line, in bytes. It bounds the memory of the import, and is larger than the
/// service's default limit on a body.
const LONGEST: u64 = 1 << 20;

/// A line of the file.
pub struct Line {
    /// Counted from 1.
    pub number: u64,
    /// The bytes with the line break, or `None` if the line is too long.
    pub text: Option<Vec<u8>>,
}

/// Opens a file, and returns its lines without the blank ones. At most `ahead` of them wait.
pub fn lines(file: &Path, ahead: u16) -> Result<impl Stream<Item = io::Result<Line>> + Unpin> {
    let input: Box<dyn Read + Send> = if file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(file).with_context(|| format!("cannot read {}", file.display()))?)
    };
    let (sender, mut receiver) = mpsc::channel(ahead.into());
    // A thread, because reading a pipe blocks.
    thread::spawn(move || {
        if let Err(error) = read(BufReader::new(input), &sender) {
            let _ = sender.blocking_send(Err(error));
        }
    });
    Ok(stream::poll_fn(move |context| receiver.poll_recv(context)))
}

/// Sends the lines of a file until its end, or until nobody receives them any more.
fn read(mut input: impl BufRead, lines: &mpsc::Sender<io::Result<Line>>) -> io::Result<()> {
    for number in 1.. {
        let mut text = Vec::new();
        if input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut text)? == 0 {
            break;
        }
        let is_too_long = text.len() as u64 > LONGEST && !text.ends_with(b"\n");
        if is_too_long {
            input.skip_until(b'\n')?;
        } else if text.trim_ascii().is_empty() {
            continue;
        }
        let line = Line { number, text: (!is_too_long).then_some(text) };
        if lines.blocking_send(Ok(line)).is_err() {
            break;
        }
    }
    Ok(())
}
