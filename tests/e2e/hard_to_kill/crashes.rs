//! `kill -9` under load: what was answered is there, and nothing that nobody sent.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, amount, plant};

const CLIENTS: i64 = 4;
/// How many creates a client has on the wire, so that some always are in the middle of a commit.
const AHEAD: i64 = 8;
/// After how many answers of a round the server dies.
const ANSWERS: usize = 60;
/// More ids than a client gets to in a round.
const IDS: i64 = 1_000_000;

/// What a client did before the server died.
#[derive(Default)]
struct Sent {
    answered: Vec<i64>,
    unanswered: Vec<i64>,
}

/// Sends plants until the connection breaks, from this id on.
fn send(server: &Server, mut id: i64, answers: &AtomicUsize) -> Sent {
    let mut connection = server.connect();
    let mut sent = Sent::default();
    loop {
        sent.unanswered = (id..id + AHEAD).collect();
        id += AHEAD;
        let requests: Vec<_> = sent.unanswered.iter().flat_map(|id| post(server, *id)).collect();
        if !connection.try_send(&requests) {
            return sent;
        }
        while !sent.unanswered.is_empty() {
            let Some(answer) = connection.try_receive() else { return sent };
            answer.plant();
            sent.answered.push(sent.unanswered.remove(0));
            answers.fetch_add(1, Relaxed);
        }
    }
}

/// What each client did until the server died in the middle of it.
fn load_until_killed(server: &Server, round: i64) -> Vec<Sent> {
    let answers = &AtomicUsize::new(0);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| (round * CLIENTS + client) * IDS)
            .map(|first| scope.spawn(move || send(server, first, answers)))
            .collect();
        server.wait_until("enough answers", || answers.load(Relaxed) >= ANSWERS);
        server.signal(Signal::SIGKILL);
        clients.into_iter().map(|client| client.join().expect("the client ran")).collect()
    })
}

/// The one plant that is ever sent with that id.
fn post(server: &Server, id: i64) -> Vec<u8> {
    server.post(&plant(id, &format!("plant {id}"), None))
}

#[test]
fn no_answered_plant_is_lost_and_none_is_doubled_or_made_up() {
    let mut server = Server::start();
    let (mut answered, mut unanswered) = (BTreeSet::new(), BTreeSet::new());
    let rounds = i64::try_from(amount(5, 500)).expect("few rounds");
    for round in 0..rounds {
        let sent = load_until_killed(&server, round);
        server = server.stopped_by(Signal::SIGKILL).start();
        for sent in sent {
            answered.extend(sent.answered);
            unanswered.extend(sent.unanswered);
        }

        let stored = server.export();
        for (id, plant) in &stored {
            assert!(answered.contains(id) || unanswered.contains(id), "nobody sent {id}");
            assert_eq!(plant.name, format!("plant {id}"));
        }
        let lost: Vec<_> = answered.iter().filter(|id| !stored.contains_key(id)).collect();
        assert!(lost.is_empty(), "answered and lost: {lost:?}");
    }
    // Who got no answer sends the same again, and can neither lose nor double a plant.
    for id in &unanswered {
        server.connect().exchange(&post(&server, *id)).plant();
    }
    assert_eq!(server.export().into_keys().collect::<BTreeSet<_>>(), &answered | &unanswered);
}
