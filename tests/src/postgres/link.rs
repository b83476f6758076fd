//! The network between the service and the database, under the control of a test: a TCP proxy that
//! can stall and cut connections. It neither loses nor changes a byte of an open connection.

use std::net::Ipv4Addr;
use std::pin::pin;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::{Cluster, RUNTIME};
use crate::wait_until;

/// The state of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Bytes arrive.
    Up,
    /// No byte arrives any more. Connections stay open, and new ones are accepted, but stay silent.
    Stalled,
    /// Old and new connections end with RST.
    Reset,
}

/// A proxy in front of one server. Dropping it resets its connections.
pub struct Link {
    port: u16,
    state: watch::Sender<Network>,
}

impl Link {
    /// Creates a link to a cluster.
    pub fn new(cluster: &Cluster) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        listener.set_nonblocking(true).expect("the socket takes options");
        let (state, changes) = watch::channel(Network::Up);
        let server = cluster.port();
        RUNTIME.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a socket");
            let mut own = changes.clone();
            loop {
                tokio::select! {
                    accepted = listener.accept() => if let Ok((client, _)) = accepted {
                        tokio::spawn(relay(client, server, changes.clone()));
                    },
                    // An error: the link was dropped.
                    _ = own.wait_for(|_| false) => break,
                }
            }
        });
        Self { port, state }
    }

    /// The port of 127.0.0.1 on which the link listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns whether bytes arrive.
    pub fn is_up(&self) -> bool {
        *self.state.borrow() == Network::Up
    }

    /// Changes the state of the link. Returns when no connection is left that has to end.
    pub fn set(&self, state: Network) {
        self.state.send_replace(state);
        if state == Network::Reset {
            // Two are those of the listener.
            let is_cut = || self.state.receiver_count() <= 2;
            wait_until(is_cut, || "the link is not cut".into());
        }
    }
}

/// Relays a connection until both sides have closed it, one side fails, or the link is cut.
async fn relay(mut client: TcpStream, port: u16, mut state: watch::Receiver<Network>) {
    let mut server = None;
    {
        let mut copied = pin!(async {
            let server = server.insert(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?);
            server.set_nodelay(true)?;
            client.set_nodelay(true)?;
            copy_bidirectional(&mut client, server).await
        });
        loop {
            let now = *state.borrow_and_update();
            if now == Network::Reset {
                break;
            }
            tokio::select! {
                biased;
                changed = state.changed() => if changed.is_err() { break },
                copied = &mut copied, if now == Network::Up => match copied {
                    Ok(_) => return,
                    Err(_) => break,
                },
            }
        }
    }
    for stream in [Some(client), server].into_iter().flatten() {
        stream.set_zero_linger().expect("the socket takes options");
    }
}
