//! The connections of the admin listener: how many there may be, and how long each may last.
//!
//! Dropshot's listener bounds neither; hyper alone needs few lines for both.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::admin::answers::Answers;

/// How many connections are served at a time; the next ones wait.
const MOST_CONNECTIONS: usize = 64;

/// How long a connection may last, from its first byte to its last.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the listener waits after an accept(2) that failed. The next one may fail at once, such
/// as for want of a descriptor.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// Accepts connections, and answers the request of each. Never ends.
pub async fn accept_connections(listener: TcpListener, answers: Arc<Answers>) -> Infallible {
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let permit = Arc::clone(&connections).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            sleep(AFTER_ERROR).await;
            continue;
        };
        let answers = Arc::clone(&answers);
        tokio::spawn(async move {
            // A client that is too slow has its connection closed.
            let _ = timeout(CONNECTION_TIMEOUT, serve_connection(stream, &answers)).await;
            drop(permit);
        });
    }
}

/// Answers one request. Nobody is told of a connection that breaks.
async fn serve_connection(stream: TcpStream, answers: &Answers) {
    let service = service_fn(|request| {
        let answer = answers.answer(&request);
        async { Ok::<_, Infallible>(answer) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).keep_alive(false);
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}
