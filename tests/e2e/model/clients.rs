//! Clients that create plants without a pause. They repeat a quarter of them, and use every token,
//! also the revoked ones. The model learns of each create before it is sent, so no export contains
//! a plant that the model does not know.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plant_store_tests::{Connection, Created, Response, bearer, post};

use super::rules::{Answer, Attempt, Model, Plant};

const CLIENTS: usize = 8;

/// How many creates a client sends on one connection, on average.
const CREATES: u32 = 200;

/// How long a client waits after a refusal.
pub const PAUSE: Duration = Duration::from_millis(20);

/// What the clients and the player share.
pub struct Load {
    model: Mutex<Model>,
    /// Each client sends to one of these, and to another one with its next connection.
    addresses: Mutex<Vec<SocketAddr>>,
    /// The number of the next plant.
    next: AtomicI64,
    is_over: AtomicBool,
}

impl Load {
    pub fn new(model: Model) -> Self {
        Self {
            model: model.into(),
            addresses: Mutex::default(),
            next: AtomicI64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    pub fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().expect("no client panicked")
    }

    fn addresses(&self) -> MutexGuard<'_, Vec<SocketAddr>> {
        self.addresses.lock().expect("no client panicked")
    }

    /// Lets the clients use a server that listens now.
    pub fn add(&self, address: SocketAddr) {
        self.addresses().push(address);
    }

    /// Starts the clients.
    pub fn start(self: &Arc<Self>) -> Vec<JoinHandle<()>> {
        let start = |client| {
            let load = Arc::clone(self);
            thread::spawn(move || load.run(client))
        };
        (0..CLIENTS).map(start).collect()
    }

    /// Stops the clients after their current create.
    pub fn stop(&self, clients: Vec<JoinHandle<()>>) {
        self.is_over.store(true, Relaxed);
        for client in clients {
            client.join().expect("no client panicked");
        }
    }

    fn run(&self, mut turn: usize) {
        let mut connection = None;
        while !self.is_over.load(Relaxed) {
            let Some(open) = connection.take().or_else(|| self.connect(&mut turn)) else {
                thread::sleep(PAUSE);
                continue;
            };
            let (plant, token) = (self.pick_plant(), self.pick_token());
            let (answer, kept) = self.create(open, plant, token);
            connection = kept.filter(|_| !rand::random_ratio(1, CREATES));
            if matches!(answer, Answer::Refused | Answer::Stale | Answer::Unauthorized) {
                thread::sleep(PAUSE);
            }
        }
    }

    /// Connects to the next server. A server that does not listen any more is not used again:
    /// another process may get its port.
    fn connect(&self, turn: &mut usize) -> Option<Connection> {
        *turn += 1;
        let addresses = self.addresses().clone();
        let address = addresses.get(*turn % addresses.len().max(1))?;
        let open = Connection::try_open(*address);
        if open.is_none() {
            self.addresses().retain(|other| other != address);
        }
        open
    }

    /// Returns a plant that was not sent before.
    pub fn new_plant(&self) -> Plant {
        plant(self.next.fetch_add(1, Relaxed))
    }

    fn pick_plant(&self) -> Plant {
        if rand::random_ratio(1, 4) {
            return plant((self.next.load(Relaxed) - rand::random_range(0..300)).max(0));
        }
        self.new_plant()
    }

    /// Returns the index of a token: mostly the first one, which is never revoked, or the newest
    /// one, which may be revoked next.
    fn pick_token(&self) -> usize {
        let last = self.model().tokens.len() - 1;
        match rand::random_range(0..4) {
            0 | 1 => 0,
            2 => last,
            _ => rand::random_range(0..=last),
        }
    }

    /// Creates a plant on an open connection, and lets the model judge the answer. Returns the
    /// answer, and the connection if the server keeps it.
    pub fn create(
        &self,
        mut open: Connection,
        plant: Plant,
        token: usize,
    ) -> (Answer, Option<Connection>) {
        let sent = body(plant);
        let request = post(&bearer(&self.model().tokens[token].secret), sent.as_bytes());
        let begun = Instant::now();
        self.model().send(plant);
        open.try_send(&request);
        // Also after a failed write: the server may have refused the request and closed the
        // connection.
        let response = open.try_receive();
        let answer = response.as_ref().map_or(Answer::Lost, |response| answer(response, &sent));
        let is_kept =
            response.is_some_and(|response| response.header("connection") != Some("close"));
        self.model().answer(&Attempt { plant, token, answer, begun, ended: Instant::now() });
        (answer, is_kept.then_some(open))
    }
}

/// Returns the plant with that number. Each id belongs to two consecutive numbers, so two clients
/// create it at about the same time: mostly the same plant, and every fourth time a different one.
fn plant(number: i64) -> Plant {
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

fn answer(response: &Response, sent: &str) -> Answer {
    if response.status == 200 {
        let mut sent: serde_json::Value = serde_json::from_str(sent).expect("JSON");
        sent.as_object_mut().expect("an object").remove("id");
        return if response.plant() == sent { Answer::Created } else { Answer::Wrong };
    }
    assert_eq!(response.status, 400, "{response:?}");
    let (error, message) = response.refusal();
    match error {
        401 => Answer::Unauthorized,
        409 => Answer::Conflict,
        500 => Answer::Failed,
        503 if message.contains("cannot check tokens") => Answer::Stale,
        // 408 after a pause: the body did not arrive in time.
        408 | 503 => Answer::Refused,
        _ => Answer::Wrong,
    }
}
