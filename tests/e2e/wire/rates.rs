//! `--max-rate`: creates that exceed the rate of their token are refused.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use plant_store_tests::{Response, Server, bearer, head, plant};

use crate::metrics::{metrics_address, scrape, series};

/// More requests than a token may send during a test.
const MANY: usize = 10;

/// Starts a server, and uses up the rate of its first token.
fn at_its_rate() -> Server {
    let server = Server::starting()
        .with(&["--max-rate", "1", "--body-timeout", "300ms", "--metrics", "127.0.0.1:0"])
        .start();
    let refused = |_| is_refused(&server.create(&plant(1, "Ficus", None)));
    assert!((0..MANY).any(refused));
    server
}

fn is_refused(answer: &Response) -> bool {
    if answer.status == 200 {
        return false;
    }
    let (error, message) = answer.refusal();
    assert_eq!(error, 429);
    assert!(message.ends_with(" creates per second: send the same request again in a moment"));
    assert_eq!(answer.header("retry-after"), Some("1"));
    true
}

/// The connection stays open, because the bodies arrive with their heads.
#[test]
fn creates_past_the_rate_are_429_and_the_connection_stays_open() {
    let server = at_its_rate();
    let mut connection = server.connect();
    connection.send(&server.post(&plant(1, "Ficus", None)).repeat(MANY));
    let next_is_refused = |_: &usize| {
        let answer = connection.receive();
        assert_eq!(answer.header("connection"), None);
        is_refused(&answer)
    };
    let refused = 1 + (0..MANY).filter(next_is_refused).count();
    assert!(refused > MANY / 2, "{refused}");
    let scrape = scrape(metrics_address(&server));
    for name in [
        "plant_store_refusals_total{error=\"429\"}",
        "plant_store_creates_past_rate_total{token=\"first\"}",
    ] {
        assert_eq!(series(&scrape)[name], refused.to_string(), "{name}");
    }
}

/// A create that was answered with 200. The times are relative to the start of the test.
#[derive(Debug)]
struct Created {
    sent: Duration,
    answered: Duration,
}

/// This includes the moments at which the server reads the tokens again, twice a second.
#[test]
fn creates_in_any_second_do_not_exceed_the_rate() {
    const RATE: usize = 100;
    let server = Server::starting().with(&["--max-rate", "100"]).start();
    let begin = Instant::now();
    let created = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut connection = server.connect();
                while begin.elapsed() < Duration::from_secs(3) {
                    let sent = begin.elapsed();
                    if !is_refused(&connection.exchange(&server.post(&plant(1, "Ficus", None)))) {
                        let answered = begin.elapsed();
                        created.lock().expect("no client panics").push(Created { sent, answered });
                    }
                }
            });
        }
    });
    let mut created = created.into_inner().expect("no client panics");
    assert!(created.len() > RATE, "{}", created.len());
    created.sort_unstable_by_key(|create| create.answered);
    // Each window contains one more create than is allowed in a second.
    for window in created.windows(RATE + 1) {
        let first = window.iter().map(|create| create.sent).min().expect("a create");
        let last = window[RATE].answered;
        assert!(last >= first + Duration::from_secs(1), "{first:?}: {created:?}");
    }
}

/// Credentials are checked before the rate.
#[test]
fn each_token_has_its_own_rate() {
    let server = at_its_rate();
    let other = server.command(&["token", "create", "other"]);
    server.create_with(&bearer(other.trim()), &plant(2, "Fern", None)).plant();
    server.wait_for_log(r#""error":429,"token":"first""#);
    for _ in 0..MANY {
        assert_eq!(server.create_with(&bearer("x"), "{}").error(), 401);
    }
}

/// The service neither waits for the body nor asks for it with `100 Continue`.
#[test]
fn create_past_the_rate_is_refused_before_its_body_arrives() {
    for expect in ["", "Expect: 100-continue\r\n"] {
        let server = at_its_rate();
        let length = "Content-Type: application/json\r\nContent-Length: 20\r\n";
        let request = head(&format!("{}{length}{expect}", server.bearer()));
        let refused = (0..MANY).any(|_| {
            let mut connection = server.connect();
            connection.send(request.as_bytes());
            let answer = connection.receive();
            if answer.status == 100 || answer.error() == 408 {
                return false;
            }
            assert_eq!(answer.header("connection"), Some("close"));
            connection.expect_closed("after a 429");
            is_refused(&answer)
        });
        assert!(refused);
    }
}
