//! A relay in front of a server that speaks TLS: it takes plain TCP, and sends the same bytes over
//! TLS. So a test that sends HTTP byte by byte runs over TLS unchanged.
//!
//! It must not change what either side sees: it passes on the end of each direction, and reads no
//! faster than the other side takes.

use std::future::pending;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncWriteExt, copy, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;
use tokio_rustls::TlsConnector;

use crate::tls::{Authority, CERT, KEY, server_name};

/// One thread for all relays of the process.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread")
});

/// How long the relay stays open after one side is gone, so that the client can read the last
/// answers.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// The files for a server that will have a relay.
pub struct Files {
    authority: Authority,
    folder: TempDir,
}

impl Files {
    /// None, unless the tests run over TLS: then `PLANT_STORE_TESTS_TLS` is in the environment.
    pub fn if_asked() -> Option<Self> {
        std::env::var_os("PLANT_STORE_TESTS_TLS")?;
        let authority = Authority::new();
        let folder = TempDir::new().expect("a temporary folder");
        authority.issue(folder.path());
        Some(Self { authority, folder })
    }

    /// Gives a server the paths of the files.
    pub fn tell(&self, server: &mut Command) {
        server.env("PLANT_STORE_TLS_CERT", self.folder.path().join(CERT));
        server.env("PLANT_STORE_TLS_KEY", self.folder.path().join(KEY));
    }

    /// Starts the relay to a server that has read the files.
    pub fn relay_to(self, server: SocketAddr) -> Relay {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        listener.set_nonblocking(true).expect("the socket takes options");
        let connector = TlsConnector::from(self.authority.client_config());
        let accepting = RUNTIME.spawn(accept(listener, server, connector)).abort_handle();
        Relay { address, accepting, _files: self.folder }
    }
}

/// A running relay. Dropping it closes its connections.
pub struct Relay {
    /// Where it listens.
    pub address: SocketAddr,
    accepting: AbortHandle,
    /// The server reads them again at SIGHUP.
    _files: TempDir,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: std::net::TcpListener, server: SocketAddr, connector: TlsConnector) {
    let listener = TcpListener::from_std(listener).expect("a socket of this machine");
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((client, _)) = listener.accept() => {
                connections.spawn(relay(client, server, connector.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Ends when the server closes the connection, or does not accept it.
async fn relay(client: TcpStream, server: SocketAddr, connector: TlsConnector) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    for stream in [&client, &server] {
        stream.set_nodelay(true).expect("the socket takes options");
    }
    let Ok(encrypted) = connector.connect(server_name(), server).await else { return };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = split(encrypted);
    let requests = async {
        let sent = copy(&mut from_client, &mut to_server).await;
        let _ = to_server.shutdown().await;
        match sent {
            // The client may still read.
            Ok(_) => pending().await,
            // One of the two is gone.
            Err(_) => sleep(LAST_ANSWERS).await,
        }
    };
    tokio::select! {
        () = requests => {}
        _ = copy(&mut from_server, &mut to_client) => {}
    }
}
