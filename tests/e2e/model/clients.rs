//! Clients that create plants without a pause. They repeat a quarter of them, and use every token,
//! also the revoked ones. They record each create before they send it, so that no export contains a
//! plant that is not recorded yet.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plant_store_tests::{Connection, Created, Response, bearer, post};

use super::rules::{Answer, Attempt, Plant};

const CLIENTS: usize = 8;

/// How many creates a client sends on one connection, on average.
const CREATES: u32 = 200;

/// How long a client waits after a refusal.
pub const PAUSE: Duration = Duration::from_millis(20);

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
    in_flight: Mutex<BTreeMap<usize, Attempt>>,
    is_over: AtomicBool,
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
        attempts.extend(in_flight.into_values());
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
        lock(&self.shared.in_flight).values().map(|attempt| attempt.begun).min()
    }

    /// Lets the clients also use this token.
    pub fn issue(&self, secret: String) {
        lock(&self.shared.secrets).push(secret);
    }

    /// Lets the clients open their next connections to these addresses.
    pub fn move_to(&self, addresses: Vec<SocketAddr>) {
        *lock(&self.shared.addresses) = addresses;
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

    fn create(
        &self,
        client: usize,
        open: Connection,
        connection: &mut Option<Connection>,
    ) -> Answer {
        let number = if rand::random_ratio(1, 4) {
            (self.next.load(Relaxed) - rand::random_range(0..300)).max(0)
        } else {
            self.next.fetch_add(1, Relaxed)
        };
        let plant = plant(number);
        let (token, secret) = self.pick_token();
        let begun = Instant::now();
        let ended = begun + Duration::from_hours(1);
        let attempt = Attempt { plant, token, answer: Answer::Refused, begun, ended };
        lock(&self.in_flight).insert(client, attempt);
        let answer = create(open, connection, plant, &secret);
        lock(&self.attempts).push(Attempt { answer, ended: Instant::now(), ..attempt });
        lock(&self.in_flight).remove(&client);
        answer
    }

    /// Returns the index of a token, and the token: mostly the first one, which is never revoked,
    /// or the newest one, which may be revoked next.
    fn pick_token(&self) -> (usize, String) {
        let secrets = lock(&self.secrets);
        let last = secrets.len() - 1;
        let token = match rand::random_range(0..4) {
            0 | 1 => 0,
            2 => last,
            _ => rand::random_range(0..=last),
        };
        (token, secrets[token].clone())
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

/// Creates a plant on an open connection, and keeps the connection if the server does.
pub fn create(
    mut open: Connection,
    connection: &mut Option<Connection>,
    plant: Plant,
    secret: &str,
) -> Answer {
    let sent = body(plant);
    open.try_send(&post(&bearer(secret), sent.as_bytes()));
    // Also after a failed write: the server may have refused the request and closed the connection.
    let Some(response) = open.try_receive() else { return Answer::Lost };
    if response.header("connection") != Some("close") {
        *connection = Some(open);
    }
    answer(&response, &sent)
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
        // 408 after a pause: the body did not arrive in time.
        408 | 503 => Answer::Refused,
        _ => Answer::Wrong,
    }
}
