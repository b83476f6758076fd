//! Clients that create plants while the database fails, and the check of the store after it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::Relaxed};
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
enum Answer {
    /// 200.
    Created,
    /// Error 409.
    Conflict,
    /// Error 503: the plant may be in the store or not.
    Refused,
    /// The connection ended: the plant may be in the store or not.
    Lost,
}

/// The answers that the clients have by now.
#[derive(Default)]
pub struct Progress {
    created: AtomicUsize,
    refused: AtomicUsize,
    is_over: AtomicBool,
    sent: Mutex<Vec<(i64, Answer, Duration)>>,
}

impl Progress {
    /// Waits until that many more creates are answered with 200.
    pub fn wait_for_answers(&self, more: usize) {
        wait_for(&self.created, more, "answers of 200");
    }

    /// Waits until that many more creates are refused.
    pub fn wait_for_refusals(&self, more: usize) {
        wait_for(&self.refused, more, "refusals");
    }

    fn note(&self, number: i64, answer: Answer, time: Duration) {
        self.sent.lock().expect("no client panicked").push((number, answer, time));
        match answer {
            Answer::Created => self.created.fetch_add(1, Relaxed),
            Answer::Refused => self.refused.fetch_add(1, Relaxed),
            Answer::Conflict | Answer::Lost => 0,
        };
    }
}

fn wait_for(count: &AtomicUsize, more: usize, what: &str) {
    let enough = count.load(Relaxed) + more;
    wait_until(|| count.load(Relaxed) >= enough, || format!("too few {what}"));
}

/// What became of the creates of one run.
pub struct Sent {
    answers: Vec<(i64, Answer, Duration)>,
}

impl Sent {
    /// How many creates got 200, 409, 503, and no answer.
    fn counts(&self) -> [usize; 4] {
        [Answer::Created, Answer::Conflict, Answer::Refused, Answer::Lost]
            .map(|kind| self.answers.iter().filter(|(_, answer, _)| *answer == kind).count())
    }

    pub fn refused(&self) -> usize {
        self.counts()[2]
    }

    /// How many creates were refused after they had waited for the store. If the database is away for
    /// two seconds, such as on a busy machine, others are refused at once: the tokens are too old.
    pub fn given_up(&self) -> usize {
        let has_waited = |(_, answer, time): &&(i64, Answer, Duration)| {
            *answer == Answer::Refused && *time > Duration::from_secs(1)
        };
        self.answers.iter().filter(has_waited).count()
    }

    pub fn lost(&self) -> usize {
        self.counts()[3]
    }

    pub fn all(&self) -> usize {
        self.answers.len()
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [created, conflicts, refused, lost] = self.counts();
        let longest = self.answers.iter().map(|(_, _, time)| *time).max().unwrap_or_default();
        write!(
            f,
            "200: {created}, 409: {conflicts}, 503: {refused}, unanswered: {lost}; the longest \
             took {longest:.1?}"
        )
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
    /// A client whose server is gone goes on with the next one, and begins with the same plant.
    pub fn run(&self, servers: &[&Server], meanwhile: impl FnOnce(&Progress)) -> Sent {
        let progress = &Progress::default();
        thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| scope.spawn(move || self.send(servers, client, progress)))
                .collect();
            let over = OnDrop(&progress.is_over);
            meanwhile(progress);
            drop(over);
            for client in clients {
                client.join().expect("the client ran");
            }
        });
        let mut sent = progress.sent.lock().expect("no client panicked");
        Sent { answers: std::mem::take(&mut sent) }
    }

    fn send(&self, servers: &[&Server], client: usize, progress: &Progress) {
        let mut at = client % servers.len();
        let mut connection = servers[at].connect();
        while !progress.is_over.load(Relaxed) {
            let number = self.next.fetch_add(1, Relaxed);
            let sent = Instant::now();
            let mut answer = create(servers[at], &mut connection, number);
            if answer == Answer::Lost && servers.len() > 1 {
                progress.note(number, answer, sent.elapsed());
                at = (at + 1) % servers.len();
                connection = servers[at].connect();
                answer = create(servers[at], &mut connection, number);
            }
            progress.note(number, answer, sent.elapsed());
            if answer == Answer::Lost {
                return;
            }
        }
    }

    /// The store holds every plant that was answered with 200 as it was sent, and none that was not
    /// sent. No answer was late: a server answers within `deadline`. Then every plant that was not
    /// answered with 200 or 409 is sent again, and is.
    pub fn check(&mut self, server: &Server, sent: &Sent, deadline: Duration) {
        let late: Vec<_> =
            sent.answers.iter().filter(|(_, _, time)| *time > deadline + SLACK).collect();
        assert!(late.is_empty(), "late: {late:?}; log:\n{}", server.log());
        let stored = stored(server);
        let mut possible = std::mem::take(&mut self.kept);
        for (id, body) in &possible {
            assert_eq!(stored.get(id), Some(body), "{id} was there before");
        }
        for (number, answer, _) in &sent.answers {
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
        self.send_again(server, sent);
    }

    fn send_again(&mut self, server: &Server, sent: &Sent) {
        let mut connection = server.connect();
        for (number, answer, _) in &sent.answers {
            if matches!(answer, Answer::Created | Answer::Conflict) {
                continue;
            }
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

/// Everything in the store.
fn stored(server: &Server) -> BTreeMap<i64, String> {
    server.export().into_iter().map(|(id, plant)| (id, json(&plant))).collect()
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
