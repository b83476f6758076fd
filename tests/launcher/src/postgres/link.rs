//! The network between the service and the database, in the hands of a test: a TCP proxy that
//! delays, stalls and cuts. It loses and changes no byte of an open connection.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc as blocking;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::line::{Line, State};
use super::{Cluster, Databases, RUNTIME, port};
use crate::events::EVENT_TIMEOUT;

/// How long the other side of a closed connection has to close it too.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// How connections are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Both sides get RST.
    Reset,
    /// Both sides get FIN, as if the other one had closed the connection.
    Close,
}

/// An order, and whom to tell that it is carried out.
type Order = (State, blocking::Sender<()>);

/// A running proxy in front of one server. Dropping it resets its connections.
pub struct Link {
    databases: Databases,
    orders: mpsc::UnboundedSender<Order>,
    delay: Arc<AtomicU64>,
}

impl Link {
    /// A link to a cluster, without a delay.
    #[must_use]
    pub fn to(cluster: &Cluster) -> Self {
        let (orders, ordered) = mpsc::unbounded_channel();
        let delay = Arc::new(AtomicU64::new(0));
        let [own, server] = [port::free(), cluster.port()]
            .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let databases = Databases::of(format!("postgres://postgres@{own}"));
        RUNTIME.spawn(run(own, server, ordered, Arc::clone(&delay)));
        let link = Self { databases, orders, delay };
        // Returns when the proxy listens.
        link.go_on();
        link
    }

    /// The databases of the server, reached through this link.
    #[must_use]
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// The URL of a database, reached through this link.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        self.databases.url(database)
    }

    /// Each byte arrives so much later, in either direction: a round trip takes twice as long.
    pub fn delay(&self, one_way: Duration) {
        let nanoseconds = one_way.as_nanos().try_into().expect("less than 500 years");
        self.delay.store(nanoseconds, Relaxed);
    }

    /// No byte arrives any more. Connections stay open; new ones are accepted, and are silent.
    pub fn stall(&self) {
        self.order(State::Stalls);
    }

    /// Ends every connection, and refuses new ones.
    pub fn cut(&self, how: Cut) {
        self.order(State::IsCut(how));
    }

    /// What was stalled arrives now; new connections are accepted.
    pub fn go_on(&self) {
        self.order(State::Passes);
    }

    fn order(&self, state: State) {
        let (done, is_done) = blocking::channel();
        self.orders.send((state, done)).expect("the proxy runs");
        is_done.recv_timeout(EVENT_TIMEOUT).expect("the proxy carries out orders");
    }
}

async fn run(
    own: SocketAddr,
    server: SocketAddr,
    mut orders: mpsc::UnboundedReceiver<Order>,
    delay: Arc<AtomicU64>,
) {
    let (states, state) = watch::channel(State::Passes);
    let line = Line::new(state, delay);
    let mut listener = None;
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            order = orders.recv() => {
                let Some((state, done)) = order else { return };
                states.send_replace(state);
                if let State::IsCut(_) = state {
                    // Without a listener the kernel refuses.
                    listener = None;
                    while connections.join_next().await.is_some() {}
                } else if listener.is_none() {
                    listener = Some(TcpListener::bind(own).await.expect("the port is free"));
                }
                // The test may have failed meanwhile.
                let _ = done.send(());
            }
            Some(client) = accept(listener.as_ref()) => {
                connections.spawn(relay(client, server, line.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn accept(listener: Option<&TcpListener>) -> Option<TcpStream> {
    Some(listener?.accept().await.ok()?.0)
}

/// Ends when both sides have ended, when one of them breaks, or when the link is cut.
async fn relay(mut client: TcpStream, server: SocketAddr, line: Line) {
    line.passes().await;
    let server = TcpStream::connect(server).await;
    let Ok(mut server) = server else { return reset(&client) };
    for stream in [&client, &server] {
        stream.set_nodelay(true).expect("the socket takes options");
    }
    let cut = {
        let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
        let both = async {
            tokio::try_join!(line.pass(from_client, to_server), line.pass(from_server, to_client))
        };
        tokio::select! {
            passed = both => match passed {
                Ok(_) => return,
                Err(_) => Cut::Reset,
            },
            cut = line.cut() => cut,
        }
    };
    match cut {
        Cut::Reset => [&client, &server].into_iter().for_each(reset),
        Cut::Close => {
            for stream in [client, server] {
                tokio::spawn(close(stream));
            }
        }
    }
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
