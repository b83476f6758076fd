//! The delay line of a link.
//!
//! The bytes that come wait for their time in a queue, so a long delay does not make the line slow.
//! They leave in the order in which they came.

use std::io::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc as blocking;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::mpsc::{self, OwnedPermit};
use tokio::sync::watch;
use tokio::try_join;

use super::Cut;

/// The most bytes that are read at once.
const CHUNK: usize = 16 * 1024;

/// The most chunks of one direction that wait. If there are more, no more is read.
const CHUNKS: usize = 64 * 1024;

/// What becomes of bytes and of new connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Passes,
    Stalls,
    IsCut(Cut),
}

/// Bytes, when they are due, and where they go then. No bytes are the end of a direction.
type Waiting = (Instant, Vec<u8>, OwnedPermit<Vec<u8>>);

/// What all connections of a link have in common.
#[derive(Clone)]
pub struct Line {
    state: watch::Receiver<State>,
    /// In nanoseconds.
    delay: Arc<AtomicU64>,
    queue: blocking::Sender<Waiting>,
}

impl Line {
    /// A line, with a thread that waits: the timers of tokio are rounded up to milliseconds.
    pub fn new(state: watch::Receiver<State>, delay: Arc<AtomicU64>) -> Self {
        let (queue, waiting) = blocking::channel::<Waiting>();
        thread::spawn(move || {
            for (due, chunk, place) in waiting {
                sleep(due.saturating_duration_since(Instant::now()));
                place.send(chunk);
            }
        });
        Self { state, delay, queue }
    }

    /// Passes on what comes in one direction of a connection, until its end and with its end.
    pub async fn pass(&self, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>) -> Result<()> {
        let (places, mut arrived) = mpsc::channel::<Vec<u8>>(CHUNKS);
        let read = async move {
            loop {
                self.passes().await;
                // The other half is there as long as this one.
                let Ok(place) = places.clone().reserve_owned().await else { return Ok(()) };
                let mut chunk = Vec::with_capacity(CHUNK);
                let is_end = from.read_buf(&mut chunk).await? == 0;
                let due = Instant::now() + Duration::from_nanos(self.delay.load(Relaxed));
                self.queue.send((due, chunk, place)).expect("the thread waits for more");
                if is_end {
                    return Ok(());
                }
            }
        };
        let write = async move {
            while let Some(chunk) = arrived.recv().await {
                self.passes().await;
                match chunk.is_empty() {
                    true => return to.shutdown().await,
                    false => to.write_all(&chunk).await?,
                }
            }
            Ok(())
        };
        try_join!(read, write).map(drop)
    }

    /// Waits while the link stalls.
    pub async fn passes(&self) {
        // An error says that the link is gone, and its connections are about to be.
        let _ = self.state.clone().wait_for(|state| *state != State::Stalls).await;
    }

    /// Waits until the link is cut.
    pub async fn cut(&self) -> Cut {
        let mut state = self.state.clone();
        let is_cut = state.wait_for(|state| matches!(state, State::IsCut(_))).await;
        match is_cut.as_deref() {
            Ok(State::IsCut(cut)) => *cut,
            _ => Cut::Reset,
        }
    }
}
