//! Clients that send plants until the server ends, and the check of the store after that.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use nix::sys::signal::Signal;
use plant_store_client::types::NewPlant;
use plant_store_tests::{Connection, Server};

use crate::database;

const CLIENTS: usize = 4;
/// How many creates a client sends before it reads their answers: some are always in a commit.
const PIPELINED: i64 = 8;

/// The ids of the plants that were sent to one server process, by how it answered.
#[derive(Default)]
pub struct Sent {
    /// 200: the plant is in the store.
    pub answered: BTreeSet<i64>,
    /// Error 500: the plant may be in the store or not.
    pub failed: BTreeSet<i64>,
    /// Error 503: the plant may be in the store or not.
    pub refused: BTreeSet<i64>,
    /// The connection ended before the answer: the plant may be in the store or not.
    pub unanswered: BTreeSet<i64>,
}

/// What the clients have sent and got by now.
#[derive(Default)]
pub struct Progress(Mutex<Sent>);

impl Progress {
    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.0.lock().expect("no client panicked")
    }

    /// The plants that are answered with 200 by now.
    pub fn answered(&self) -> BTreeSet<i64> {
        self.sent().answered.clone()
    }

    /// Waits until that many more creates are answered with 200.
    pub fn wait_for_answers(&self, server: &Server, more: usize) {
        let enough = self.sent().answered.len() + more;
        server.wait_until("answers", || self.sent().answered.len() >= enough);
    }

    /// Waits until one more is refused.
    pub fn wait_for_refusal(&self, server: &Server) {
        let refused = || {
            let sent = self.sent();
            sent.failed.len() + sent.refused.len()
        };
        let before = refused();
        server.wait_until("a refusal", || refused() > before);
    }
}

/// Plants for one store, and those that must be in it.
#[derive(Default)]
pub struct Load {
    next: AtomicI64,
    kept: BTreeSet<i64>,
}

impl Load {
    /// Sends plants from many clients until the server ends. `meanwhile` has to end it.
    pub fn run(&self, server: &Server, meanwhile: impl FnOnce(&Progress)) -> Sent {
        let progress = Progress::default();
        let connections: Vec<_> = (0..CLIENTS).map(|_| server.connect()).collect();
        thread::scope(|scope| {
            for connection in connections {
                scope.spawn(|| self.send(server, connection, &progress));
            }
            let done = catch_unwind(AssertUnwindSafe(|| meanwhile(&progress)));
            if let Err(panic) = done {
                // The clients would go on for ever.
                server.signal(Signal::SIGKILL);
                resume_unwind(panic);
            }
        });
        progress.0.into_inner().expect("no client panicked")
    }

    /// Sends plants until the connection breaks.
    fn send(&self, server: &Server, mut connection: Connection, progress: &Progress) {
        loop {
            let first = self.next.fetch_add(PIPELINED, Relaxed);
            let ids: Vec<_> = (first..first + PIPELINED).map(id).collect();
            progress.sent().unanswered.extend(&ids);
            let requests: Vec<_> = ids.iter().flat_map(|id| request(server, *id)).collect();
            if !connection.try_send(&requests) {
                return;
            }
            for id in ids {
                let Some(answer) = connection.try_receive() else { return };
                let mut sent = progress.sent();
                sent.unanswered.remove(&id);
                let error = if answer.status == 200 { 200 } else { answer.refusal().0 };
                match error {
                    200 => _ = (answer.plant(), sent.answered.insert(id)),
                    500 => _ = sent.failed.insert(id),
                    503 => _ = sent.refused.insert(id),
                    _ => panic!("{answer:?}"),
                }
            }
        }
    }

    /// After a restart, the store holds every plant that was answered with 200, byte for byte, and
    /// none that was never sent.
    pub fn check(&mut self, server: &Server, sent: &Sent) {
        let stored = stored(server);
        self.kept.extend(&sent.answered);
        let lost: Vec<_> = self.kept.difference(&stored).collect();
        assert!(lost.is_empty(), "answered with 200 and lost: {lost:?}");
        let sent = [&self.kept, &sent.failed, &sent.refused, &sent.unanswered];
        let was_sent = |id: &&i64| sent.iter().any(|ids| ids.contains(id));
        let unexpected: Vec<_> = stored.iter().filter(|id| !was_sent(id)).collect();
        assert!(unexpected.is_empty(), "stored, but never sent: {unexpected:?}");
        self.kept = stored;
    }

    /// A copy that was made meanwhile holds every plant that was answered with 200 before it began,
    /// byte for byte, and none that was never sent. The load goes on with the copy.
    pub fn check_copy(&mut self, copy: &Server, before: &BTreeSet<i64>, sent: &Sent) {
        let part = Sent {
            answered: before.clone(),
            failed: sent.failed.clone(),
            refused: sent.refused.clone(),
            unanswered: sent.unanswered.union(&sent.answered).copied().collect(),
        };
        self.check(copy, &part);
    }

    /// Sends every plant again that was not answered with 200. Each must get a 200 now.
    pub fn send_again(&mut self, server: &Server, sent: &Sent) {
        let mut connection = server.connect();
        for id in sent.failed.iter().chain(&sent.refused).chain(&sent.unanswered) {
            connection.exchange(&request(server, *id)).plant();
            self.kept.insert(*id);
        }
    }

    /// How many plants are in the store.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }
}

/// The id of the plant with that number. Consecutive numbers get ids all over the table.
pub fn id(number: i64) -> i64 {
    number.wrapping_mul(0x5851_f42d_4c95_7f2d)
}

/// The one plant that is sent under that id: short or long, with all kinds of characters.
pub fn plant_with(id: i64) -> NewPlant {
    const NAMES: [&str; 4] = ["", "\0", "Größe 🌱 ", "\u{10ffff}\"\\\n"];
    const TAGS: [Option<&str>; 3] = [None, Some(""), Some("\u{7f}🌵\0")];
    /// The longest name is longer than a page of the store.
    const SPACES: [usize; 16] = [6000, 600, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let pick = |kinds: usize| usize::try_from(id.rem_euclid(1_000_003)).expect("small") % kinds;
    let name = format!("{}{id}{}", NAMES[pick(4)], " ".repeat(SPACES[pick(16)]));
    let plant = NewPlant::builder().id(id).name(name).tag(TAGS[pick(3)].map(str::to_owned));
    plant.try_into().expect("a plant")
}

/// The request that creates the plant with that id.
fn request(server: &Server, id: i64) -> Vec<u8> {
    server.post(&serde_json::to_string(&plant_with(id)).expect("a plant is JSON"))
}

/// The ids in the store. Each must have its one plant, and the engine must find no damage.
fn stored(server: &Server) -> BTreeSet<i64> {
    database::assert_sound(server);
    let plants = server.export().into_iter();
    plants
        .map(|(id, plant)| {
            let expected = plant_with(id);
            assert_eq!((plant.name, plant.tag), (expected.name, expected.tag), "{id}");
            id
        })
        .collect()
}
