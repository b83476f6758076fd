//! The network between the service and the database, in the hands of a test: a TCP proxy that
//! delays, stalls and cuts. It loses and changes no byte of an open connection.

use std::io::Result;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::cluster::lock;
use super::{Cluster, Databases, RUNTIME, port};
use crate::events::wait_until;

/// How long the other side of a closed connection has to close it too.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// The most bytes that are read at once, and the most reads of one direction that wait.
const CHUNK: usize = 16 * 1024;
const CHUNKS: usize = 64 * 1024;

/// How connections are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Both sides get RST.
    Reset,
    /// Both sides get FIN, as if the other one had closed the connection.
    Close,
}

/// What becomes of bytes and of new connections.
#[derive(Clone, Copy, Debug)]
struct State {
    stalls: bool,
    /// How it is cut, if it is.
    cut: Option<Cut>,
    delay: Duration,
}

/// A proxy that listens.
struct Proxy {
    state: watch::Sender<State>,
    /// It ends when the link is cut.
    task: JoinHandle<()>,
}

/// A proxy in front of one server. Dropping it resets its connections.
pub struct Link {
    databases: Databases,
    own: SocketAddr,
    server: SocketAddr,
    /// None while the link is cut.
    proxy: Mutex<Option<Proxy>>,
}

impl Link {
    /// A link to a cluster, without a delay.
    pub fn new(cluster: &Cluster) -> Self {
        let [own, server] = [port::free(), cluster.port()]
            .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let databases = Databases::new(format!("postgres://postgres@{own}"));
        let link = Self { databases, own, server, proxy: Mutex::default() };
        link.go_on();
        link
    }

    /// The databases of the server, reached through this link.
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// The URL of a database, reached through this link.
    pub fn url(&self, database: &str) -> String {
        self.databases.url(database)
    }

    /// Each byte arrives that much later, in either direction: a round trip takes twice as long.
    pub fn delay(&self, one_way: Duration) {
        self.change(|state| state.delay = one_way);
    }

    /// No byte arrives any more. Connections stay open; new ones are accepted, and are silent.
    pub fn stall(&self) {
        self.change(|state| state.stalls = true);
    }

    /// What was stalled arrives now; new connections are accepted.
    pub fn go_on(&self) {
        lock(&self.proxy).get_or_insert_with(|| listen(self.own, self.server));
        self.change(|state| state.stalls = false);
    }

    /// Ends every connection, and refuses new ones.
    pub fn cut(&self, how: Cut) {
        self.change(|state| state.cut = Some(how));
        let proxy = lock(&self.proxy).take().expect("it is not cut yet");
        wait_until(|| proxy.task.is_finished(), || "the link is not cut".into());
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let proxy = lock(&self.proxy);
        proxy.as_ref().expect("it is not cut").state.send_modify(change);
    }
}

fn listen(own: SocketAddr, server: SocketAddr) -> Proxy {
    let undisturbed = State { stalls: false, cut: None, delay: Duration::ZERO };
    let (sender, state) = watch::channel(undisturbed);
    let listener = std::net::TcpListener::bind(own).expect("the port is free");
    listener.set_nonblocking(true).expect("the socket takes options");
    let task = RUNTIME.spawn(async move {
        accept(TcpListener::from_std(listener).expect("a socket"), server, state).await;
    });
    Proxy { state: sender, task }
}

async fn accept(listener: TcpListener, server: SocketAddr, state: watch::Receiver<State>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((client, _)) = listener.accept() => {
                connections.spawn(relay(client, server, state.clone()));
            }
            _ = wait_until_cut(&state) => break,
            Some(_) = connections.join_next() => {}
        }
    }
    // Without a listener the kernel refuses.
    drop(listener);
    connections.join_all().await;
}

/// Ends when both sides have ended, when one of them breaks, or when the link is cut.
async fn relay(mut client: TcpStream, server: SocketAddr, state: watch::Receiver<State>) {
    wait_while_stalled(&state).await;
    let Ok(mut server) = TcpStream::connect(server).await else { return reset(&client) };
    for stream in [&client, &server] {
        stream.set_nodelay(true).expect("the socket takes options");
    }
    let how = {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let both = async {
            tokio::try_join!(
                copy_with_delay(from_client, to_server, &state),
                copy_with_delay(from_server, to_client, &state)
            )
        };
        tokio::select! {
            copied = both => match copied {
                Ok(_) => return,
                Err(_) => Cut::Reset,
            },
            how = wait_until_cut(&state) => how,
        }
    };
    match how {
        Cut::Reset => [&client, &server].into_iter().for_each(reset),
        Cut::Close => {
            for stream in [client, server] {
                tokio::spawn(close(stream));
            }
        }
    }
}

/// Passes on what comes in one direction of a connection, until its end and with its end. What has
/// come waits for its time in a queue, so a long delay does not make the link slow.
async fn copy_with_delay(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    state: &watch::Receiver<State>,
) -> Result<()> {
    let (queue, mut queued) = mpsc::channel::<(Instant, Vec<u8>)>(CHUNKS);
    let read = async move {
        loop {
            wait_while_stalled(state).await;
            let mut chunk = Vec::with_capacity(CHUNK);
            let is_end = from.read_buf(&mut chunk).await? == 0;
            let due = Instant::now() + state.borrow().delay;
            // The other half is there as long as this one.
            if queue.send((due, chunk)).await.is_err() || is_end {
                return Ok(());
            }
        }
    };
    let write = async move {
        while let Some((due, chunk)) = queued.recv().await {
            let wait = due.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                // The timers of tokio are rounded up to milliseconds.
                spawn_blocking(move || sleep(wait)).await?;
            }
            wait_while_stalled(state).await;
            if chunk.is_empty() {
                return to.shutdown().await;
            }
            to.write_all(&chunk).await?;
        }
        Ok(())
    };
    tokio::try_join!(read, write).map(drop)
}

/// Waits while the link stalls.
async fn wait_while_stalled(state: &watch::Receiver<State>) {
    // An error says that the link is gone, and its connections are about to be.
    let _ = state.clone().wait_for(|state| !state.stalls || state.cut.is_some()).await;
}

/// Waits until the link is cut, or dropped.
async fn wait_until_cut(state: &watch::Receiver<State>) -> Cut {
    let mut changes = state.clone();
    let reached = changes.wait_for(|state| state.cut.is_some()).await;
    reached.ok().and_then(|state| state.cut).unwrap_or(Cut::Reset)
}

/// Has the kernel send RST when the socket is dropped.
fn reset(stream: &TcpStream) {
    stream.set_zero_linger().expect("the socket takes options");
}

/// Sends FIN. A socket that is dropped with unread bytes would send RST.
async fn close(mut stream: TcpStream) {
    let _ = stream.shutdown().await;
    let _ = timeout(LAST_BYTES, copy(&mut stream, &mut sink())).await;
}
