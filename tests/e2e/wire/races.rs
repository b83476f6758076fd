//! Races between clients: the first plant with an id is stored, and all answers agree with it.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use plant_store_tests::{Response, Server, plant};

const CLIENTS: usize = 8;
const IDS: i64 = 50;

/// Pairs of clients create the same plant with every id, and each pair creates a different plant.
/// All clients use the same order of ids, so that their creates race. One client of each pair sends
/// all its requests before it reads an answer, so repeats occur both within a batch and across
/// batches.
#[test]
fn racing_creates_of_one_id_agree_on_one_plant() {
    let server = Server::start();
    let start = Barrier::new(CLIENTS);
    let race = |client: usize| {
        let mut connection = server.connect();
        let name = format!("{}", client / 2);
        let requests: Vec<_> = (0..IDS).map(|id| server.post(&plant(id, &name, None))).collect();
        start.wait();
        let answers: Vec<_> = if client.is_multiple_of(2) {
            connection.send(&requests.concat());
            requests.iter().map(|_| connection.receive()).collect()
        } else {
            requests.iter().map(|request| connection.exchange(request)).collect()
        };
        let is_created = |answer: Response| {
            if answer.status != 200 {
                assert_eq!(answer.error(), 409);
                return false;
            }
            answer.plant()["name"] == name
        };
        let is_created: Vec<bool> = answers.into_iter().map(is_created).collect();
        (name, is_created)
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let race = &race;
        let start = |client| scope.spawn(move || race(client));
        let clients: Vec<_> = (0..CLIENTS).map(start).collect();
        clients.into_iter().map(|client| client.join().expect("the client ran")).collect()
    });
    let stored: BTreeMap<_, _> =
        server.export().into_iter().map(|(id, plant)| (id, plant.name)).collect();
    assert!(stored.keys().copied().eq(0..IDS));
    for (id, winner) in (0..).zip(stored.values()) {
        for (name, is_created) in &answers {
            assert_eq!(is_created[id], name == winner, "{name} of {id}, where {winner} is stored");
        }
    }
}
