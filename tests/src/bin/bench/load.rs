//! The load: so many connections, each sending the next plant as soon as the last is answered.
//! Every plant has an id of its own, so every answer is a durable create.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::target::Running;

/// Open connections to a target.
pub struct Load {
    runtime: Runtime,
    connections: Vec<TcpStream>,
    /// The head of every request, up to the value of its `Content-Length`.
    head: String,
    next_id: AtomicI64,
}

/// What became of a number of creates.
pub struct Run {
    pub elapsed: Duration,
    /// Sorted.
    pub latencies: Vec<Duration>,
}

impl Load {
    pub fn connect(target: &Running, connections: usize) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let connections = runtime.block_on(async {
            let mut open = Vec::with_capacity(connections);
            for _ in 0..connections {
                let connection = TcpStream::connect(target.address).await?;
                connection.set_nodelay(true)?;
                open.push(connection);
            }
            anyhow::Ok(open)
        })?;
        let head = format!(
            "POST /plants HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: ",
            target.address, target.token
        );
        Ok(Self { runtime, connections, head, next_id: AtomicI64::new(1) })
    }

    /// Creates that many plants, and fails at the first that is not answered with 200.
    pub fn create(&mut self, creates: usize) -> Result<Run> {
        let Self { runtime, connections, head, next_id } = self;
        let left = AtomicUsize::new(creates);
        let started = Instant::now();
        let clients = connections.iter_mut().map(|connection| {
            let (head, next_id, left) = (&*head, &*next_id, &left);
            async move {
                let mut latencies = Vec::new();
                let mut buffer = Vec::with_capacity(1024);
                while left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
                    let id = next_id.fetch_add(1, Relaxed);
                    let body =
                        format!(r#"{{"id":{id},"name":"Monstera deliciosa","tag":"indoor"}}"#);
                    let request = format!("{head}{}\r\n\r\n{body}", body.len());
                    let sent = Instant::now();
                    connection.write_all(request.as_bytes()).await?;
                    receive(connection, &mut buffer).await?;
                    latencies.push(sent.elapsed());
                }
                anyhow::Ok(latencies)
            }
        });
        let latencies = runtime.block_on(futures::future::try_join_all(clients))?;
        let elapsed = started.elapsed();
        let mut latencies = latencies.concat();
        latencies.sort();
        Ok(Run { elapsed, latencies })
    }
}

impl Run {
    pub fn percentile_ms(&self, percent: usize) -> f64 {
        let rank = (self.latencies.len() * percent).div_ceil(100).max(1);
        self.latencies[rank - 1].as_secs_f64() * 1e3
    }
}

/// Reads one whole answer, whose end its `Content-Length` tells.
async fn receive(connection: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<()> {
    buffer.clear();
    loop {
        if connection.read_buf(buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        let mut fields = [httparse::EMPTY_HEADER; 16];
        let mut response = httparse::Response::new(&mut fields);
        let httparse::Status::Complete(head) = response.parse(buffer)? else { continue };
        let length: usize = response
            .headers
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case("content-length"))
            .and_then(|field| std::str::from_utf8(field.value).ok()?.parse().ok())
            .context("no Content-Length")?;
        ensure!(response.code == Some(200), "{}", String::from_utf8_lossy(buffer));
        if buffer.len() >= head + length {
            return Ok(());
        }
    }
}
