//! Thousands of connections that say nothing, or a byte a second, beside honest clients.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plant_store_tests::process::{allow_many_files, cpu_time, memory_mib};
use plant_store_tests::{Connection, Server, amount, head, median, plant};

const SECOND: Duration = Duration::from_secs(1);

/// The deadline of a body: longer than the time for which honest clients are measured.
const DEADLINE: Duration = Duration::from_secs(5);

/// Honest creates, and what they took.
struct Honest {
    per_second: f64,
    cpu_us_each: f64,
}

/// Honest clients create plants for that long.
fn honest(server: &Server, next: &AtomicI64, time: Duration) -> Honest {
    const CLIENTS: usize = 16;
    let cpu = || cpu_time(server.pid()).expect("the process is there");
    let (first, started, before) = (next.load(Relaxed), Instant::now(), cpu());
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut connection = server.connect();
                while started.elapsed() < time {
                    let id = next.fetch_add(1, Relaxed);
                    connection.exchange(&server.post(&plant(id, "Ficus", None))).plant();
                }
            });
        }
    });
    let (elapsed, cpu) = (started.elapsed(), cpu().saturating_sub(before));
    let creates = f64::from(u32::try_from(next.load(Relaxed) - first).expect("fewer than 2^32"));
    Honest {
        per_second: creates / elapsed.as_secs_f64(),
        cpu_us_each: cpu.as_secs_f64() * 1e6 / creates,
    }
}

/// Connections of three kinds, as many of each.
struct Flood {
    silent: Vec<Connection>,
    /// They have sent a part of a body.
    bodies: Vec<Connection>,
    /// They have sent a part of a head.
    heads: Vec<Connection>,
    /// Sends a byte a second on each of `bodies` and `heads`.
    slow_sender: JoinHandle<()>,
    /// Dropping it ends the slow sender.
    running: Sender<()>,
}

impl Flood {
    fn open(server: &Server, connections: usize) -> Self {
        let open = || (0..connections / 3).map(|_| server.connect()).collect::<Vec<_>>();
        let (silent, mut bodies, mut heads) = (open(), open(), open());
        let length = "Content-Type: application/json\r\nContent-Length: 1000\r\n";
        let request = head(&(server.bearer() + length));
        for connection in &mut bodies {
            connection.send(request.as_bytes());
        }
        for connection in &mut heads {
            connection.send(b"POST /plants HTTP/1.1\r\nX: ");
        }
        let mut senders: Vec<_> = bodies.iter().chain(&heads).map(Connection::sender).collect();
        let (running, stopped) = channel();
        let slow_sender = thread::spawn(move || {
            while stopped.recv_timeout(SECOND) == Err(RecvTimeoutError::Timeout) {
                senders.retain_mut(|sender| sender.try_send(b" "));
            }
        });
        // Connections are accepted in order: after this answer all the others are accepted.
        server.create(&plant(0, "Ficus", None)).plant();
        Self { silent, bodies, heads, slow_sender, running }
    }

    /// The bodies get a 408. The silent connections still work.
    fn end(self, server: &Server) {
        for mut connection in self.bodies {
            assert_eq!(connection.receive().refusal().0, 408);
            assert!(connection.is_closed());
        }
        for mut connection in self.silent {
            connection.exchange(&server.post(&plant(0, "Ficus", None))).plant();
        }
        drop(self.running);
        self.slow_sender.join().expect("the slow sender ran");
        drop(self.heads);
    }
}

/// The soft limit on open files is too low for the connections: the server raises it.
#[test]
fn thousands_of_slow_clients_do_not_stop_honest_ones() {
    allow_many_files().expect("the soft limit can be raised");
    let connections = amount(600, 2001);
    let deadline = format!("{}s", DEADLINE.as_secs());
    let flags = ["--body-timeout", &deadline, "--max-connections", "3000"];
    let starting = Server::starting().with(&flags);
    let server = starting.with_open_files("-Sn 256").start();
    let time =
        Duration::from_millis(u64::try_from(amount(300, 3000)).expect("a time in milliseconds"));
    let next = AtomicI64::new(1);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    honest(&server, &next, time);
    for _ in 0..amount(1, 5) {
        alone.push(honest(&server, &next, time));
        let flood = Flood::open(&server, connections);
        beside.push(honest(&server, &next, time));
        flood.end(&server);
    }
    let peak = memory_mib(server.pid(), "VmHWM").expect("the process is there");
    for (what, runs) in [("alone", alone), ("beside slow clients", beside)] {
        let creates = median(runs.iter().map(|run| run.per_second));
        let cpu = median(runs.iter().map(|run| run.cpu_us_each));
        println!("{what}: {creates:.0} creates/s, {cpu:.1} µs of CPU each");
    }
    println!("{connections} slow clients, peak {peak:.0} MiB");
    assert!(peak < 256.0, "{peak} MiB");
    let created = usize::try_from(next.into_inner()).expect("not negative");
    assert_eq!(server.export().len(), created);
}

/// hyper closes a connection whose head takes 30 seconds. Only `cargo xtask soak` waits for that.
#[test]
fn head_sent_slowly_past_30_seconds_closes_the_connection() {
    let server = Server::start();
    for _ in 0..amount(0, 1) {
        let mut connection = server.connect();
        connection.send(b"POST /plants HTTP/1.1\r\nX: ");
        let mut sender = connection.sender();
        thread::scope(|scope| {
            scope.spawn(move || {
                while sender.try_send(b"x") {
                    thread::sleep(SECOND);
                }
            });
            assert!(connection.is_closed());
        });
    }
    server.create(&plant(1, "Ficus", None)).plant();
}
