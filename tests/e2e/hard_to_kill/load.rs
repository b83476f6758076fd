//! Clients that create plants while something fails, and the check of the store afterwards.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use plant_store_client::types::NewPlant;
use plant_store_tests::{Connection, Server, wait_until};

/// The number of clients. Each waits for the answer to one create at a time.
pub const CLIENTS: usize = 12;

/// How long a client waits after a refusal. Without a pause, clients would be refused thousands of
/// times during a fault, and the check would send each of these plants again.
const PAUSE: Duration = Duration::from_millis(20);

/// How long after its deadline an answer may arrive, because the machine is busy with other work.
pub const SLACK: Duration = Duration::from_secs(2);

/// The answer to a create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 200.
    Created,
    /// Error 409.
    Conflict,
    /// Error 500. The plant may be stored or not.
    Failed,
    /// Error 503. The plant may be stored or not.
    Refused,
    /// No answer: the connection was lost or could not be made. The plant may be stored or not.
    Lost,
}

/// A create that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// The number of its plant.
    pub number: i64,
    pub answer: Answer,
    /// The time from the first byte of the request to the answer.
    pub took: Duration,
}

/// All attempts, in the order of their answers.
pub type Sent = Vec<Attempt>;

/// Returns how many creates got that answer.
pub fn count(sent: &Sent, kind: Answer) -> usize {
    sent.iter().filter(|attempt| attempt.answer == kind).count()
}

/// The answers that the clients have received so far.
#[derive(Default)]
pub struct Progress {
    is_over: AtomicBool,
    sent: Mutex<Sent>,
}

impl Progress {
    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().expect("no client panicked")
    }

    /// Returns the number of answers.
    pub fn answers(&self) -> usize {
        self.sent().len()
    }

    /// Waits until that many more creates have got that answer.
    pub fn wait_for(&self, more: usize, answer: Answer) {
        let before = count(&self.sent(), answer);
        self.wait_for_all(before + more, answer);
    }

    fn wait_for_all(&self, all: usize, answer: Answer) {
        let has_all = || count(&self.sent(), answer) >= all;
        wait_until(has_all, || format!("too few answers: {answer:?}"));
    }
}

/// A load of creates on one store.
#[derive(Default)]
pub struct Load {
    /// The number of the next plant.
    next: AtomicI64,
    /// The plants that must be in the store.
    kept: BTreeMap<i64, String>,
}

impl Load {
    /// Lets the clients create plants until each of them has lost the server. `meanwhile` has to
    /// end the server.
    pub fn run_to_end(&self, server: &Server, meanwhile: impl FnOnce(&Progress)) -> Sent {
        self.run(&[server], |progress| {
            meanwhile(progress);
            progress.wait_for_all(CLIENTS, Answer::Lost);
        })
    }

    /// Lets the clients create plants on these servers while `meanwhile` runs. Then checks that
    /// every answer came within `deadline`, that none was an error 500, and that the store is
    /// right.
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
            // Otherwise the clients would go on forever.
            progress.is_over.store(true, Relaxed);
            done.unwrap_or_else(|panic| resume_unwind(panic));
        });
        let sent = std::mem::take(&mut *progress.sent());
        let kinds =
            [Answer::Created, Answer::Conflict, Answer::Failed, Answer::Refused, Answer::Lost];
        println!("{:?}", kinds.map(|kind| (kind, count(&sent, kind))));
        sent
    }

    /// Sends plants to one server. If that server is lost, sends the same plant to the next one.
    fn send(&self, servers: &[&Server], client: usize, progress: &Progress) {
        let mut connection = None;
        // The server in use. The clients start on different servers.
        let mut turn = client;
        while !progress.is_over.load(Relaxed) {
            let number = self.next.fetch_add(1, Relaxed);
            let mut is_lost = |_: &_| {
                let begun = Instant::now();
                let answer = create(servers[turn % servers.len()], &mut connection, number);
                progress.sent().push(Attempt { number, answer, took: begun.elapsed() });
                if answer == Answer::Refused {
                    thread::sleep(PAUSE);
                }
                turn += usize::from(answer == Answer::Lost);
                answer == Answer::Lost
            };
            if servers.iter().all(&mut is_lost) {
                return;
            }
        }
    }

    /// Checks that the store is sound, that it contains every acknowledged plant as it was sent,
    /// and that it contains no plant that was never sent. Then sends every plant again that was not
    /// answered with 200 or 409, and checks that it is answered with 200 or 409 now.
    pub fn check(&mut self, server: &Server, sent: &Sent) {
        server.command(&["check"]);
        let stored: BTreeMap<_, _> =
            server.export().into_iter().map(|(id, plant)| (id, json(&plant))).collect();
        let mut possible = std::mem::take(&mut self.kept);
        for (id, body) in &possible {
            assert_eq!(stored.get(id), Some(body), "{id} was stored before");
        }
        for attempt in sent {
            let (id, body) = plant(attempt.number);
            let found = stored.get(&id);
            let is_same = found == Some(&body);
            match attempt.answer {
                Answer::Created => assert!(is_same, "200 for {body}, stored: {found:?}"),
                Answer::Conflict => {
                    assert!(found.is_some() && !is_same, "409 for {body}, stored: {found:?}");
                }
                Answer::Failed | Answer::Refused | Answer::Lost => {}
            }
            if is_same {
                possible.insert(id, body);
            }
        }
        let never_sent: Vec<_> = stored.keys().filter(|id| !possible.contains_key(id)).collect();
        assert!(never_sent.is_empty(), "stored but never sent: {never_sent:?}");
        self.kept = stored;
        self.send_again(server, sent);
    }

    fn send_again(&mut self, server: &Server, sent: &Sent) {
        let mut connection = None;
        let is_final =
            |attempt: &&Attempt| matches!(attempt.answer, Answer::Created | Answer::Conflict);
        for attempt in sent.iter().filter(|attempt| !is_final(attempt)) {
            // The database is back, but the service may not have noticed yet.
            let mut again = Answer::Refused;
            server.wait_until("a create is accepted", || {
                again = create(server, &mut connection, attempt.number);
                again != Answer::Refused
            });
            let (id, body) = plant(attempt.number);
            let kept = self.kept.entry(id).or_insert_with(|| body.clone());
            let expected = if *kept == body { Answer::Created } else { Answer::Conflict };
            assert_eq!(again, expected, "{body} sent again");
        }
    }
}

/// Returns the id and the JSON of the plant with that number, which is short or long, with all
/// kinds of characters. Consecutive numbers get ids all over the table. Each id belongs to two
/// consecutive numbers, so two clients create it at about the same time: mostly the same plant, and
/// every fourth time a different one.
fn plant(number: i64) -> (i64, String) {
    const NAMES: [&str; 4] = ["", "\0", "Größe 🌱 ", "\u{10ffff}\"\\\n"];
    const TAGS: [Option<&str>; 3] = [None, Some(""), Some("\u{7f}🌵\0")];
    /// The longest name exceeds a page of the store.
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

/// Creates the plant with that number, on the open connection or on a new one.
fn create(server: &Server, connection: &mut Option<Connection>, number: i64) -> Answer {
    let mut open = connection.take().or_else(|| Connection::try_open(server.address));
    let (_, body) = plant(number);
    let request = server.post(&body);
    let exchange = |open: &mut Connection| open.try_send(&request).then(|| open.try_receive())?;
    let Some(answer) = open.as_mut().and_then(exchange) else { return Answer::Lost };
    // A server whose lease of the tokens has expired does not read the body, and closes the
    // connection.
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
