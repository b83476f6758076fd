//! Clients that create plants while the database fails, and the check of the store after it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use plant_store_client::types::NewPlant;
use plant_store_tests::{Connection, Server, wait_until};

use crate::hard_to_kill::load::{id, plant_with};

/// How many creates wait for an answer at most.
const CLIENTS: usize = 12;

/// How much later than its deadline an answer may come, because the machine has other work too.
pub const SLACK: Duration = Duration::from_secs(2);

/// What a client got for a plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 200.
    Created,
    /// Error 409.
    Conflict,
    /// Error 503: the plant may be in the store or not.
    Refused,
    /// The connection ended: the plant may be in the store or not.
    Lost,
}

/// The number of each plant, what a client got for it, and after what time.
pub type Sent = Vec<(i64, Answer, Duration)>;

/// How many creates got that answer.
pub fn count(sent: &Sent, kind: Answer) -> usize {
    sent.iter().filter(|(_, answer, _)| *answer == kind).count()
}

/// The answers that the clients have by now.
#[derive(Default)]
pub struct Progress {
    is_over: AtomicBool,
    sent: Mutex<Sent>,
}

impl Progress {
    /// Waits until that many more creates have that answer.
    pub fn wait_for(&self, more: usize, answer: Answer) {
        let count = || count(&self.sent.lock().expect("no client panicked"), answer);
        let enough = count() + more;
        wait_until(|| count() >= enough, || format!("too few answers: {answer:?}"));
    }

    fn note(&self, number: i64, answer: Answer, begun: Instant) {
        let sent = (number, answer, begun.elapsed());
        self.sent.lock().expect("no client panicked").push(sent);
    }
}

/// Plants for one store, and those that must be in it.
#[derive(Default)]
pub struct Load {
    next: AtomicI64,
    kept: BTreeMap<i64, String>,
}

impl Load {
    /// Has many clients create plants at these servers, in turn, for as long as `meanwhile` runs.
    /// A client whose server is gone goes on with the next one, and begins with the same plant. Then
    /// the last server and the store are checked; a server answers within `deadline`.
    pub fn run(
        &mut self,
        what: &str,
        servers: &[&Server],
        deadline: Duration,
        meanwhile: impl FnOnce(&Progress),
    ) -> Sent {
        let (progress, load) = (&Progress::default(), &*self);
        thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| scope.spawn(move || load.send(servers, client, progress)))
                .collect();
            let over = OnDrop(&progress.is_over);
            meanwhile(progress);
            drop(over);
            for client in clients {
                client.join().expect("the client ran");
            }
        });
        let sent = std::mem::take(&mut *progress.sent.lock().expect("no client panicked"));
        let [created, conflicts, refused, lost] =
            [Answer::Created, Answer::Conflict, Answer::Refused, Answer::Lost]
                .map(|kind| count(&sent, kind));
        let longest = sent.iter().map(|(_, _, time)| *time).max().unwrap_or_default();
        println!(
            "{what}: 200: {created}, 409: {conflicts}, 503: {refused}, unanswered: {lost}; the \
             longest took {longest:.1?}"
        );
        let server = servers[servers.len() - 1];
        assert!(longest < deadline + SLACK, "late; log:\n{}", server.log());
        self.check(server, &sent);
        self.send_again(server, &sent);
        sent
    }

    fn send(&self, servers: &[&Server], client: usize, progress: &Progress) {
        let mut at = client % servers.len();
        let mut connection = servers[at].connect();
        while !progress.is_over.load(Relaxed) {
            let number = self.next.fetch_add(1, Relaxed);
            let begun = Instant::now();
            let mut answer = create(servers[at], &mut connection, number);
            if answer == Answer::Lost && servers.len() > 1 {
                progress.note(number, answer, begun);
                at = (at + 1) % servers.len();
                connection = servers[at].connect();
                answer = create(servers[at], &mut connection, number);
            }
            progress.note(number, answer, begun);
            if answer == Answer::Lost {
                return;
            }
        }
    }

    /// The store holds every plant that was answered with 200 as it was sent, and none that was not
    /// sent.
    fn check(&mut self, server: &Server, sent: &Sent) {
        let stored: BTreeMap<_, _> =
            server.export().into_iter().map(|(id, plant)| (id, json(&plant))).collect();
        let mut possible = std::mem::take(&mut self.kept);
        for (id, body) in &possible {
            assert_eq!(stored.get(id), Some(body), "{id} was there before");
        }
        for (number, answer, _) in sent {
            let (id, body) = plant(*number);
            let found = stored.get(&id);
            let is_this = found == Some(&body);
            match answer {
                Answer::Created => assert!(is_this, "200 for {body}, stored: {found:?}"),
                Answer::Conflict => {
                    assert!(found.is_some() && !is_this, "409 for {body}: {found:?}");
                }
                Answer::Refused | Answer::Lost => {}
            }
            if is_this {
                possible.insert(id, body);
            }
        }
        let strangers: Vec<_> = stored.keys().filter(|id| !possible.contains_key(id)).collect();
        assert!(strangers.is_empty(), "never sent: {strangers:?}");
        self.kept = stored;
    }

    /// Every plant that was not answered with 200 or 409 is sent again, and is.
    fn send_again(&mut self, server: &Server, sent: &Sent) {
        let mut connection = server.connect();
        let is_open = |answer| matches!(answer, Answer::Refused | Answer::Lost);
        for (number, ..) in sent.iter().filter(|(_, answer, _)| is_open(*answer)) {
            // The database is there again, but the service may still have to notice it.
            let mut again = Answer::Refused;
            server.wait_until("a create is taken", || {
                again = create(server, &mut connection, *number);
                again != Answer::Refused
            });
            let (id, body) = plant(*number);
            let kept = self.kept.entry(id).or_insert_with(|| body.clone());
            let expected = if *kept == body { Answer::Created } else { Answer::Conflict };
            assert_eq!(again, expected, "{body} once more");
        }
    }
}

/// The plant with that number. Each id belongs to two numbers in a row, so two clients create it at
/// about the same time: mostly the same plant, and each fourth time another one.
fn plant(number: i64) -> (i64, String) {
    let mut plant = plant_with(id(number / 2));
    if number % 8 == 1 {
        plant.name.push_str(" (another)");
    }
    (plant.id, json(&plant))
}

fn json(plant: &NewPlant) -> String {
    serde_json::to_string(plant).expect("a plant is JSON")
}

fn create(server: &Server, connection: &mut Connection, number: i64) -> Answer {
    let (_, body) = plant(number);
    if !connection.try_send(&server.post(&body)) {
        return Answer::Lost;
    }
    let Some(answer) = connection.try_receive() else { return Answer::Lost };
    // A server that cannot read the tokens any longer reads no body either.
    if answer.header("connection") == Some("close") {
        *connection = server.connect();
    }
    if answer.status == 200 {
        answer.plant();
        return Answer::Created;
    }
    match answer.refusal() {
        (409, _) => Answer::Conflict,
        (503, _) => Answer::Refused,
        other => panic!("{other:?}; log:\n{}", server.log()),
    }
}

/// Ends the clients, also if the test fails.
struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
