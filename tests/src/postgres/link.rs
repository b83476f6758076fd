//! The network between the service and the database, under the control of a test: a TCP proxy that
//! can stall and cut connections. It neither loses nor changes a byte of an open connection.

use std::io::Result;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::cluster::lock;
use super::{Cluster, Databases, RUNTIME, port};
use crate::events::wait_until;

/// How long the peer of a closed connection has to close it too.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// The maximum number of bytes per read.
const CHUNK: usize = 16 * 1024;

/// How connections are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Both sides get RST.
    Reset,
    /// Both sides get FIN, as if the peer had closed the connection.
    Close,
}

/// How the link treats bytes and new connections.
#[derive(Clone, Copy, Debug)]
struct State {
    stalls: bool,
    /// How the link was cut, or `None`.
    cut: Option<Cut>,
}

/// A listening proxy.
struct Proxy {
    state: watch::Sender<State>,
    /// The task ends when the link is cut.
    task: JoinHandle<()>,
}

/// A proxy in front of one server. Dropping it resets its connections.
pub struct Link {
    databases: Databases,
    own: SocketAddr,
    server: SocketAddr,
    /// `None` while the link is cut.
    proxy: Mutex<Option<Proxy>>,
}

impl Link {
    /// Creates a link to a cluster, which is up.
    pub fn new(cluster: &Cluster) -> Self {
        let [own, server] = [port::free(), cluster.port()]
            .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let databases = Databases::new(format!("postgres://postgres@{own}"));
        let link = Self { databases, own, server, proxy: Mutex::default() };
        link.resume();
        link
    }

    /// The databases of the server, as reached through this link.
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// The URL of a database, as reached through this link.
    pub fn url(&self, database: &str) -> String {
        self.databases.url(database)
    }

    /// Stalls the link: no byte arrives any more. Connections stay open, and new connections are
    /// accepted, but stay silent.
    pub fn stall(&self) {
        self.change(|state| state.stalls = true);
    }

    /// Resumes a stalled or cut link: stalled bytes arrive, and new connections are accepted.
    pub fn resume(&self) {
        lock(&self.proxy).get_or_insert_with(|| listen(self.own, self.server));
        self.change(|state| state.stalls = false);
    }

    /// Ends every connection, and refuses new ones.
    pub fn cut(&self, how: Cut) {
        self.change(|state| state.cut = Some(how));
        let proxy = lock(&self.proxy).take().expect("the link is not cut yet");
        wait_until(|| proxy.task.is_finished(), || "the link is not cut".into());
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let proxy = lock(&self.proxy);
        proxy.as_ref().expect("the link is not cut").state.send_modify(change);
    }
}

fn listen(own: SocketAddr, server: SocketAddr) -> Proxy {
    let initial = State { stalls: false, cut: None };
    let (sender, state) = watch::channel(initial);
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
    // Without a listener the kernel refuses new connections.
    drop(listener);
    connections.join_all().await;
}

/// Relays a connection until both sides have closed it, one side fails, or the link is cut.
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
                copy_while_up(from_client, to_server, &state),
                copy_while_up(from_server, to_client, &state)
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

/// Copies one direction of a connection, including its end.
async fn copy_while_up(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    state: &watch::Receiver<State>,
) -> Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = from.read(&mut chunk).await?;
        wait_while_stalled(state).await;
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&chunk[..read]).await?;
    }
}

/// Waits while the link is stalled.
async fn wait_while_stalled(state: &watch::Receiver<State>) {
    // An error means that the link was dropped, and its connections are about to be dropped, too.
    let _ = state.clone().wait_for(|state| !state.stalls || state.cut.is_some()).await;
}

/// Waits until the link is cut or dropped.
async fn wait_until_cut(state: &watch::Receiver<State>) -> Cut {
    let mut changes = state.clone();
    let reached = changes.wait_for(|state| state.cut.is_some()).await;
    reached.ok().and_then(|state| state.cut).unwrap_or(Cut::Reset)
}

/// Makes the kernel send RST when the socket is dropped.
fn reset(stream: &TcpStream) {
    stream.set_zero_linger().expect("the socket takes options");
}

/// Sends FIN, and drains the socket: dropping a socket with unread bytes would send RST.
async fn close(mut stream: TcpStream) {
    let _ = stream.shutdown().await;
    let _ = timeout(LAST_BYTES, copy(&mut stream, &mut sink())).await;
}
