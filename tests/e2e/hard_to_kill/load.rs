//! Clients that send plants until the server is gone, and what they know then.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};
use std::thread;

use nix::sys::signal::Signal;
use plant_store_client::types::NewPlant;
use plant_store_tests::{Connection, Server};
use rusqlite::Connection as Store;

use crate::database;

const CLIENTS: usize = 4;
/// How many creates a client has on the wire, so that some always are in the middle of a commit.
const AHEAD: i64 = 8;

/// The ids that a server was asked for.
#[derive(Default)]
pub struct Sent {
    /// With a 200.
    pub answered: BTreeSet<i64>,
    /// Whose connection ended first.
    pub unanswered: BTreeSet<i64>,
}

/// Plants for one store, each of which is sent once.
#[derive(Default)]
pub struct Load {
    sent: AtomicI64,
}

impl Load {
    /// Sends plants from many clients, and that signal after that many answers.
    pub fn until(&self, server: &Server, signal: Signal, enough: usize) -> Sent {
        let answers = &AtomicUsize::new(0);
        let connections: Vec<_> = (0..CLIENTS).map(|_| server.connect()).collect();
        thread::scope(|scope| {
            let clients: Vec<_> = connections
                .into_iter()
                .map(|connection| scope.spawn(|| self.send(server, connection, answers)))
                .collect();
            server.wait_until("enough answers", || answers.load(Relaxed) >= enough);
            server.signal(signal);
            clients.into_iter().map(|client| client.join().expect("the client ran")).fold(
                Sent::default(),
                |mut all, mut sent| {
                    all.answered.append(&mut sent.answered);
                    all.unanswered.append(&mut sent.unanswered);
                    all
                },
            )
        })
    }

    /// Sends plants until the connection breaks.
    fn send(&self, server: &Server, mut connection: Connection, answers: &AtomicUsize) -> Sent {
        let mut sent = Sent::default();
        loop {
            let first = self.sent.fetch_add(AHEAD, Relaxed);
            let ids: Vec<_> = (first..first + AHEAD).map(id).collect();
            sent.unanswered.extend(&ids);
            let requests: Vec<_> = ids.iter().flat_map(|id| request(server, *id)).collect();
            if !connection.try_send(&requests) {
                return sent;
            }
            for id in ids {
                let Some(answer) = connection.try_receive() else { return sent };
                answer.plant();
                sent.unanswered.remove(&id);
                sent.answered.insert(id);
                answers.fetch_add(1, Relaxed);
            }
        }
    }
}

/// The ids in an order that takes them all over the table.
fn id(number: i64) -> i64 {
    number.wrapping_mul(0x5851_f42d_4c95_7f2d)
}

/// The one plant that is ever sent with that id: short or long, of any characters.
fn the_plant(id: i64) -> NewPlant {
    const NAMES: [&str; 4] = ["", "\0", "Größe 🌱 ", "\u{10ffff}\"\\\n"];
    const TAGS: [Option<&str>; 3] = [None, Some(""), Some("\u{7f}🌵\0")];
    /// The longest is longer than a page of the store.
    const SPACES: [usize; 16] = [6000, 600, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let pick = |kinds: usize| usize::try_from(id.rem_euclid(1_000_003)).expect("small") % kinds;
    let name = format!("{}{id}{}", NAMES[pick(4)], " ".repeat(SPACES[pick(16)]));
    NewPlant { id, name, tag: TAGS[pick(3)].map(str::to_owned) }
}

/// The request that creates it.
pub fn request(server: &Server, id: i64) -> Vec<u8> {
    server.post(&serde_json::to_string(&the_plant(id)).expect("a plant is JSON"))
}

/// The ids in the store, each with its one plant, in a file without a fault.
pub fn stored(server: &Server) -> BTreeSet<i64> {
    assert_whole(&database::open(server));
    let plants = server.export().into_iter();
    plants
        .map(|(id, plant)| {
            let expected = the_plant(id);
            assert_eq!((plant.name, plant.tag), (expected.name, expected.tag), "{id}");
            id
        })
        .collect()
}

fn assert_whole(store: &Store) {
    let found: String = store
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("the store can be checked");
    assert_eq!(found, "ok");
}
