//! Many clients at once: the first plant of an id is stored, and all answers agree with that.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use plant_store_tests::{Server, plant};

const CLIENTS: usize = 8;
const IDS: i64 = 50;

/// Each client creates another plant under every id, in the same order, so that their creates race.
/// Every second client sends all its requests before it reads an answer.
#[test]
fn racing_creates_of_one_id_give_it_to_exactly_one() {
    let server = Server::start();
    let start = Barrier::new(CLIENTS);
    let race = |client: usize| {
        let mut connection = server.connect();
        let requests: Vec<_> =
            (0..IDS).map(|id| server.post(&plant(id, &format!("{client}"), None))).collect();
        start.wait();
        let answers: Vec<_> = if client.is_multiple_of(2) {
            connection.send(&requests.concat());
            requests.iter().map(|_| connection.receive()).collect()
        } else {
            requests.iter().map(|request| connection.exchange(request)).collect()
        };
        (0..IDS).zip(answers)
    };
    let mut winners = BTreeMap::new();
    thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|client| scope.spawn(move || race(client))).collect();
        for (client, answers) in clients.into_iter().enumerate() {
            for (id, answer) in answers.join().expect("the client ran") {
                if answer.status == 200 {
                    assert_eq!(answer.plant()["name"], client.to_string());
                    assert_eq!(winners.insert(id, client.to_string()), None, "one winner of {id}");
                } else {
                    assert_eq!(answer.refusal().0, 409);
                }
            }
        }
    });
    let stored: BTreeMap<_, _> =
        server.export().into_iter().map(|(id, plant)| (id, plant.name)).collect();
    assert_eq!(stored, winners);
    assert_eq!(stored.len(), usize::try_from(IDS).expect("a positive number"));
}

/// The repetitions are in one batch and in different ones.
#[test]
fn same_plant_from_many_clients_is_created_once_and_is_200_for_all() {
    let server = Server::start();
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut connection = server.connect();
                for id in 0..IDS {
                    connection.exchange(&server.post(&plant(id, "Ficus", Some("x")))).plant();
                }
            });
        }
    });
    assert_eq!(server.export().len(), usize::try_from(IDS).expect("a positive number"));
}
