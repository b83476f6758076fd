//! Clients that create plants while something fails, and the check of the store after it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use plant_store_client::types::NewPlant;
use plant_store_tests::{Connection, Server, wait_until};

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
    /// Error 500: the plant may be in the store or not.
    Failed,
    /// Error 503: the plant may be in the store or not.
    Refused,
    /// The connection ended, or there was none: the plant may be in the store or not.
    Lost,
}

/// A create that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// The number of its plant.
    pub number: i64,
    /// What the client got for it.
    pub answer: Answer,
    /// From its first byte to the answer.
    pub took: Duration,
}

/// All attempts, in the order of their answers.
pub type Sent = Vec<Attempt>;

/// How many creates got that answer.
pub fn count(sent: &Sent, kind: Answer) -> usize {
    sent.iter().filter(|attempt| attempt.answer == kind).count()
}

/// The answers that the clients have by now.
#[derive(Default)]
pub struct Progress {
    is_over: AtomicBool,
    sent: Mutex<Sent>,
}

impl Progress {
    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().expect("no client panicked")
    }

    /// How many answers there are.
    pub fn answers(&self) -> usize {
        self.sent().len()
    }

    /// Waits until that many more creates have that answer.
    pub fn wait_for(&self, more: usize, answer: Answer) {
        let before = count(&self.sent(), answer);
        self.wait_for_all(before + more, answer);
    }

    fn wait_for_all(&self, all: usize, answer: Answer) {
        let has_all = || count(&self.sent(), answer) >= all;
        wait_until(has_all, || format!("too few answers: {answer:?}"));
    }
}

/// Plants for one store, and those that must be in it.
#[derive(Default)]
pub struct Load {
    next: AtomicI64,
    kept: BTreeMap<i64, String>,
}

impl Load {
    /// Has many clients create plants at the server until each of them has lost it. `meanwhile` has
    /// to end the server.
    pub fn run_to_end(&self, server: &Server, meanwhile: impl FnOnce(&Progress)) -> Sent {
        self.run(&[server], |progress| {
            meanwhile(progress);
            progress.wait_for_all(CLIENTS, Answer::Lost);
        })
    }

    /// Has many clients create plants at these servers for as long as `meanwhile` runs. Then the
    /// last server and the store are checked. A server answers within `deadline`, and with no
    /// error 500.
    pub fn run_and_check(
        &mut self,
        servers: &[&Server],
        deadline: Duration,
        meanwhile: impl FnOnce(&Progress),
    ) -> Sent {
        let sent = self.run(servers, meanwhile);
        let server = servers[servers.len() - 1];
        let longest = sent.iter().map(|attempt| attempt.took).max().unwrap_or_default();
        println!("the longest took {longest:.1?}");
        assert!(longest < deadline + SLACK, "late; log:\n{}", server.log());
        assert_eq!(count(&sent, Answer::Failed), 0, "log:\n{}", server.log());
        self.check(server, &sent);
        sent
    }

    fn run(&self, servers: &[&Server], meanwhile: impl FnOnce(&Progress)) -> Sent {
        let progress = Progress::default();
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let progress = &progress;
                scope.spawn(move || self.send(servers, client, progress));
            }
            let done = catch_unwind(AssertUnwindSafe(|| meanwhile(&progress)));
            // Otherwise the clients would go on for ever.
            progress.is_over.store(true, Relaxed);
            done.unwrap_or_else(|panic| resume_unwind(panic));
        });
        let sent = std::mem::take(&mut *progress.sent());
        let kinds =
            [Answer::Created, Answer::Conflict, Answer::Failed, Answer::Refused, Answer::Lost];
        println!("{:?}", kinds.map(|kind| (kind, count(&sent, kind))));
        sent
    }

    /// Sends plants to one of the servers in turn. If it is gone, the next one gets the same plant.
    fn send(&self, servers: &[&Server], client: usize, progress: &Progress) {
        let mut connection = None;
        // The server whose turn it is: each client begins with another one.
        let mut turn = client;
        while !progress.is_over.load(Relaxed) {
            let number = self.next.fetch_add(1, Relaxed);
            let mut is_lost = |_: &_| {
                let begun = Instant::now();
                let answer = create(servers[turn % servers.len()], &mut connection, number);
                progress.sent().push(Attempt { number, answer, took: begun.elapsed() });
                turn += usize::from(answer == Answer::Lost);
                answer == Answer::Lost
            };
            if servers.iter().all(&mut is_lost) {
                return;
            }
        }
    }

    /// The store is sound. It holds every plant that was answered with 200 as it was sent, and none
    /// that was not sent. Every plant that was not answered with 200 or 409 is sent again, and is.
    pub fn check(&mut self, server: &Server, sent: &Sent) {
        server.command(&["check"]);
        let stored: BTreeMap<_, _> =
            server.export().into_iter().map(|(id, plant)| (id, json(&plant))).collect();
        let mut possible = std::mem::take(&mut self.kept);
        for (id, body) in &possible {
            assert_eq!(stored.get(id), Some(body), "{id} was there before");
        }
        for attempt in sent {
            let (id, body) = plant(attempt.number);
            let found = stored.get(&id);
            let is_this = found == Some(&body);
            match attempt.answer {
                Answer::Created => assert!(is_this, "200 for {body}, stored: {found:?}"),
                Answer::Conflict => {
                    assert!(found.is_some() && !is_this, "409 for {body}: {found:?}");
                }
                Answer::Failed | Answer::Refused | Answer::Lost => {}
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
        let mut connection = None;
        let is_closed =
            |attempt: &&Attempt| matches!(attempt.answer, Answer::Created | Answer::Conflict);
        for attempt in sent.iter().filter(|attempt| !is_closed(attempt)) {
            // The database is there again, but the service may still have to notice it.
            let mut again = Answer::Refused;
            server.wait_until("a create is taken", || {
                again = create(server, &mut connection, attempt.number);
                again != Answer::Refused
            });
            let (id, body) = plant(attempt.number);
            let kept = self.kept.entry(id).or_insert_with(|| body.clone());
            let expected = if *kept == body { Answer::Created } else { Answer::Conflict };
            assert_eq!(again, expected, "{body} once more");
        }
    }
}

/// The plant with that number, its id first: short or long, with all kinds of characters.
/// Consecutive numbers get ids all over the table. Each id belongs to two numbers in a row, so two
/// clients create it at about the same time: mostly the same plant, and each fourth time another
/// one.
fn plant(number: i64) -> (i64, String) {
    const NAMES: [&str; 4] = ["", "\0", "Größe 🌱 ", "\u{10ffff}\"\\\n"];
    const TAGS: [Option<&str>; 3] = [None, Some(""), Some("\u{7f}🌵\0")];
    /// The longest name is longer than a page of the store.
    const SPACES: [usize; 16] = [6000, 600, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let id = (number / 2).wrapping_mul(0x5851_f42d_4c95_7f2d);
    let pick = |kinds: usize| usize::try_from(id.rem_euclid(1_000_003)).expect("small") % kinds;
    let another = if number % 8 == 1 { " (another)" } else { "" };
    let name = format!("{}{id}{}{another}", NAMES[pick(4)], " ".repeat(SPACES[pick(16)]));
    (id, plant_store_tests::plant(id, &name, TAGS[pick(3)]))
}

fn json(plant: &NewPlant) -> String {
    serde_json::to_string(plant).expect("a plant is JSON")
}

/// Creates the plant with that number, on this connection or on a new one.
fn create(server: &Server, connection: &mut Option<Connection>, number: i64) -> Answer {
    let mut open = connection.take().or_else(|| Connection::try_open(server.address));
    let (_, body) = plant(number);
    let request = server.post(&body);
    let exchange = |open: &mut Connection| open.try_send(&request).then(|| open.try_receive())?;
    let Some(answer) = open.as_mut().and_then(exchange) else { return Answer::Lost };
    // A server that cannot read the tokens any longer reads no body either.
    if answer.header("connection") != Some("close") {
        *connection = open;
    }
    if answer.status == 200 {
        answer.plant();
        return Answer::Created;
    }
    let (error, message) = answer.refusal();
    match error {
        409 => Answer::Conflict,
        500 => Answer::Failed,
        503 => Answer::Refused,
        other => panic!("{other}: {message}; log:\n{}", server.log()),
    }
}
