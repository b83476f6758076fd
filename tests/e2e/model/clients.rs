//! Clients that create plants without a pause. They repeat a quarter of them, and use every token,
//! also the revoked ones. They record each create before they send it, so that no export contains a
//! plant that is not recorded yet.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plant_store_tests::{Connection, Response, bearer, post};

use super::rules::{Answer, Attempt, Plant};

const CLIENTS: usize = 8;

/// How many creates a client sends on one connection, on average.
const CREATES: u32 = 200;

/// How long a client waits after a refusal.
pub const PAUSE: Duration = Duration::from_millis(20);

/// The number of clients that hold their last byte back until a token is revoked.
const SLOW_CLIENTS: usize = 2;

/// For how long they hold it back at most, in milliseconds. A revocation takes two seconds.
const HELD_BACK: std::ops::Range<u64> = 3000..7000;

pub struct Clients {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    /// Each client sends to one of these, and to another one with its next connection.
    addresses: Mutex<Vec<SocketAddr>>,
    /// The number of the next plant.
    next: Arc<AtomicI64>,
    secrets: Mutex<Vec<String>>,
    attempts: Mutex<Vec<Attempt>>,
    /// The creates without an answer, by the number of the client.
    in_flight: Mutex<BTreeMap<usize, InFlight>>,
    /// How often held back bytes were released.
    releases: AtomicUsize,
    is_over: AtomicBool,
}

#[derive(Clone, Copy)]
struct InFlight {
    /// The attempt as it is if it is never answered.
    attempt: Attempt,
    /// When its last byte was sent.
    sent: Option<Instant>,
}

impl Clients {
    /// Starts clients that stop when [`stop`](Self::stop) is called, or when no address accepts
    /// connections any more.
    pub fn start(addresses: Vec<SocketAddr>, next: Arc<AtomicI64>, secrets: Vec<String>) -> Self {
        let shared = Arc::new(Shared {
            addresses: addresses.into(),
            next,
            secrets: secrets.into(),
            attempts: Mutex::default(),
            in_flight: Mutex::default(),
            releases: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let start = |client| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.run(client))
        };
        Self { threads: (0..CLIENTS).map(start).collect(), shared }
    }

    /// Returns all attempts so far, including those that still wait for an answer.
    pub fn attempts(&self) -> Vec<Attempt> {
        // In this order none is missing. One that is answered in between is there twice.
        let in_flight = lock(&self.shared.in_flight).clone();
        let mut attempts = self.answered();
        attempts.extend(in_flight.into_values().map(|in_flight| in_flight.attempt));
        attempts
    }

    /// Returns the attempts that were answered or lost so far.
    pub fn answered(&self) -> Vec<Attempt> {
        lock(&self.shared.attempts).clone()
    }

    /// Returns the number of attempts that were answered or lost so far.
    pub fn count(&self) -> usize {
        lock(&self.shared.attempts).len()
    }

    /// Returns when the oldest create without an answer was sent.
    pub fn waiting_since(&self) -> Option<Instant> {
        lock(&self.shared.in_flight).values().filter_map(|in_flight| in_flight.sent).min()
    }

    /// Lets the clients also use this token.
    pub fn issue(&self, secret: String) {
        lock(&self.shared.secrets).push(secret);
    }

    /// Lets the clients open their next connections to these addresses.
    pub fn move_to(&self, addresses: Vec<SocketAddr>) {
        *lock(&self.shared.addresses) = addresses;
    }

    /// Releases the bytes that are held back.
    pub fn release(&self) {
        self.shared.releases.fetch_add(1, Relaxed);
    }

    /// Stops the clients after their current create, and returns all attempts.
    pub fn stop(self) -> Vec<Attempt> {
        self.shared.is_over.store(true, Relaxed);
        for thread in self.threads {
            thread.join().expect("no client panicked");
        }
        std::mem::take(&mut *lock(&self.shared.attempts))
    }
}

impl Shared {
    fn run(&self, client: usize) {
        let mut connection = None;
        let mut turn = client;
        let mut refused_connections = 0;
        while !self.is_over.load(Relaxed) {
            let addresses = lock(&self.addresses).clone();
            if refused_connections >= addresses.len() {
                return;
            }
            let open = connection.take().or_else(|| {
                turn += 1;
                Connection::try_open(addresses[turn % addresses.len()])
            });
            let Some(open) = open else {
                refused_connections += 1;
                continue;
            };
            refused_connections = 0;
            let answer = self.create(client, open, &mut connection);
            if rand::random_ratio(1, CREATES) {
                connection = None;
            }
            if matches!(answer, Answer::Refused | Answer::Unauthorized) {
                thread::sleep(PAUSE);
            }
        }
    }

    /// Creates a plant. A slow client holds its last byte back.
    fn create(
        &self,
        client: usize,
        open: Connection,
        connection: &mut Option<Connection>,
    ) -> Answer {
        let holds_back = client < SLOW_CLIENTS;
        let number = if rand::random_ratio(1, 4) {
            (self.next.load(Relaxed) - rand::random_range(0..300)).max(0)
        } else {
            self.next.fetch_add(1, Relaxed)
        };
        let plant = plant(number);
        let (token, secret) = self.pick_token(holds_back);
        let started = Instant::now();
        let far = started + Duration::from_hours(1);
        let (begun, answer) = (started, Answer::Refused);
        let attempt = Attempt { plant, token, answer, started, begun, ended: far };
        let sent = (!holds_back).then_some(started);
        lock(&self.in_flight).insert(client, InFlight { attempt, sent });

        let wait = || {
            if holds_back {
                self.hold_back();
                lock(&self.in_flight).entry(client).and_modify(|in_flight| {
                    in_flight.sent = Some(Instant::now());
                });
            }
        };
        let (begun, answer) = create(open, connection, plant, &secret, wait);
        let attempt = Attempt { begun, answer, ended: Instant::now(), ..attempt };
        lock(&self.attempts).push(attempt);
        lock(&self.in_flight).remove(&client);
        answer
    }

    /// Returns the index of a token, and the token: mostly the first one, which is never revoked,
    /// or the newest one, which may be revoked next.
    fn pick_token(&self, newest: bool) -> (usize, String) {
        let secrets = lock(&self.secrets);
        let last = secrets.len() - 1;
        let token = match rand::random_range(0..4) {
            _ if newest => last,
            0 | 1 => 0,
            2 => last,
            _ => rand::random_range(0..=last),
        };
        (token, secrets[token].clone())
    }

    fn hold_back(&self) {
        let until = Instant::now() + Duration::from_millis(rand::random_range(HELD_BACK));
        let releases = self.releases.load(Relaxed);
        while Instant::now() < until
            && self.releases.load(Relaxed) == releases
            && !self.is_over.load(Relaxed)
        {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no client panicked")
}

/// Returns the plant with that number. Each id belongs to two consecutive numbers, so two clients
/// create it at about the same time: mostly the same plant, and every fourth time a different one.
pub fn plant(number: i64) -> Plant {
    let id = (number / 2).wrapping_mul(0x5851_f42d_4c95_7f2d);
    Plant { id, variant: u8::from(number % 8 == 1) }
}

/// Returns the JSON of a plant, with all kinds of characters. Some are long, so that checkpoints
/// are frequent.
pub fn body(Plant { id, variant }: Plant) -> String {
    const NAMES: [&str; 4] = ["", "\0", "Größe 🌱 ", "\u{10ffff}\"\\\n"];
    const TAGS: [Option<&str>; 3] = [None, Some(""), Some("\u{7f}🌵\0")];
    const LONG: [usize; 16] = [20_000, 6000, 600, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let pick = |kinds: usize| usize::try_from(id.rem_euclid(1_000_003)).expect("small") % kinds;
    let name = format!("{}{id}{}{variant}", NAMES[pick(4)], " ".repeat(LONG[pick(16)]));
    plant_store_tests::plant(id, &name, TAGS[pick(3)])
}

/// Creates a plant on an open connection, with a wait before the last byte. Keeps the connection if
/// the server does. Returns when the last byte was sent, and the answer.
pub fn create(
    mut open: Connection,
    connection: &mut Option<Connection>,
    plant: Plant,
    secret: &str,
    wait: impl FnOnce(),
) -> (Instant, Answer) {
    let sent = body(plant);
    let request = post(&bearer(secret), sent.as_bytes());
    let (most, last) = request.split_at(request.len() - 1);
    open.try_send(most);
    wait();
    let begun = Instant::now();
    open.try_send(last);
    // Also after a failed write: the server may have refused the request and closed the connection.
    let Some(response) = open.try_receive() else { return (begun, Answer::Lost) };
    if response.header("connection") != Some("close") {
        *connection = Some(open);
    }
    (begun, answer(&response, &sent))
}

fn answer(response: &Response, sent: &str) -> Answer {
    if response.status == 200 {
        let mut sent: serde_json::Value = serde_json::from_str(sent).expect("JSON");
        sent.as_object_mut().expect("an object").remove("id");
        return if response.plant() == sent { Answer::Created } else { Answer::Wrong };
    }
    match response.error() {
        401 => Answer::Unauthorized,
        409 => Answer::Conflict,
        500 => Answer::Failed,
        // 408 after a pause: the last byte did not arrive in time.
        408 | 503 => Answer::Refused,
        _ => Answer::Wrong,
    }
}
