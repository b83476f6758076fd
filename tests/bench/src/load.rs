//! The load: many connections that create plants, as fast as they are answered or at a fixed rate.
//! Every plant has an id of its own, so every answer is a durable create.

use std::cell::Cell;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio::task::yield_now;

use crate::plants::Order;
use crate::target::Running;

/// Open connections to one server, or to several on one store.
pub struct Load {
    runtime: Runtime,
    connections: Vec<TcpStream>,
    /// The head of every request, up to the value of its `Content-Length`.
    head: String,
    order: Order,
    /// How many plants were sent.
    plants: Cell<u64>,
}

/// How much to create. A run ends when it reaches the first of the two.
#[derive(Clone, Copy)]
pub struct Amount {
    pub creates: usize,
    pub time: Duration,
}

/// The result of a run.
pub struct Run {
    pub elapsed: Duration,
    /// Sorted.
    pub latencies: Vec<Duration>,
}

impl Load {
    /// Opens connections to a store that holds the first `plants` plants already: to each of its
    /// servers in turn.
    pub fn connect(
        servers: &[Running],
        connections: usize,
        order: Order,
        plants: u64,
    ) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let connections = runtime.block_on(async {
            let mut open = Vec::with_capacity(connections);
            for server in servers.iter().cycle().take(connections) {
                let connection = TcpStream::connect(server.address).await?;
                connection.set_nodelay(true)?;
                open.push(connection);
            }
            anyhow::Ok(open)
        })?;
        let [server, ..] = servers else { bail!("there is no server") };
        let head = format!(
            "POST /plants HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: ",
            server.address, server.token
        );
        Ok(Self { runtime, connections, head, order, plants: Cell::new(plants) })
    }

    /// Closed loop: each connection sends the next plant when the last is answered. This shows how
    /// much a server can do, and not how long its clients wait.
    pub fn create(&mut self, Amount { creates, time }: Amount) -> Result<Run> {
        let left = Cell::new(creates);
        let started = Instant::now();
        self.run(async || {
            let more = left.get() > 0 && started.elapsed() < time;
            left.set(left.get().saturating_sub(1));
            more.then(Instant::now)
        })
    }

    /// Open loop: plants arrive at this rate, whether or not those before them are answered. Each
    /// is timed from when it was due, also if no connection was free then. A server that falls
    /// behind is given twice the time, and no more.
    pub fn arrive(&mut self, per_second: u32, time: Duration) -> Result<Run> {
        let arrivals = Mutex::new(0);
        let started = Instant::now();
        self.run(async || {
            // One free connection waits for the next arrival, and the others for their turn.
            let mut arrived = arrivals.lock().await;
            let due = started + Duration::from_secs(1) * *arrived / per_second;
            if due >= started + time || started.elapsed() > 2 * time {
                return None;
            }
            // A timer of the runtime would be late by up to a millisecond.
            while Instant::now() < due {
                yield_now().await;
            }
            *arrived += 1;
            Some(due)
        })
    }

    /// Creates a plant each time that `next` says so, and times it from the instant that `next`
    /// says. Fails at the first that is not answered with 200.
    fn run(&mut self, next: impl AsyncFn() -> Option<Instant>) -> Result<Run> {
        let Self { runtime, connections, head, order, plants } = self;
        let create_all = async |connection: &mut TcpStream| {
            let mut latencies = Vec::new();
            let mut buffer = Vec::with_capacity(1024);
            while let Some(since) = next().await {
                let body = order.body(plants.replace(plants.get() + 1));
                let request = format!("{head}{}\r\n\r\n{body}", body.len());
                connection.write_all(request.as_bytes()).await?;
                receive(connection, &mut buffer).await?;
                latencies.push(since.elapsed());
            }
            anyhow::Ok(latencies)
        };
        let started = Instant::now();
        let clients = connections.iter_mut().map(create_all);
        let by_client = runtime.block_on(futures::future::try_join_all(clients))?;
        let elapsed = started.elapsed();
        let mut latencies = by_client.concat();
        latencies.sort();
        Ok(Run { elapsed, latencies })
    }
}

impl Run {
    /// The latency that this many of a thousand creates do not exceed.
    pub fn per_mille_ms(&self, per_mille: usize) -> f64 {
        let rank = (self.latencies.len() * per_mille).div_ceil(1000).max(1);
        self.latencies[rank - 1].as_secs_f64() * 1e3
    }
}

/// Reads one whole answer, as long as its `Content-Length` says.
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
