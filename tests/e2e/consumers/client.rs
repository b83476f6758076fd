//! The client as a library: its example, retries by the document's rules, failures, tokens.

use std::fmt::Debug;
use std::sync::Mutex;
use std::time::SystemTime;

use groundwork_client::OperationInfo;
use plant_store_client::{
    Client, ClientInfo, ExponentialBuilder, Failure, GeneratedClient, InvalidClient, StatusCode,
    client, client_with, settings, types,
};
use plant_store_tests::prelude::*;
use plant_store_tests::tls::{Authority, serving};
use plant_store_tests::{build_example, new_plant};
use tokio::runtime::Runtime;

use super::{Scripted, refusal, response};
use crate::database;

const PLANT: &str = r#"{"name":"Ficus"}"#;

/// Returns a client with a retry policy with short pauses.
fn retrying(url: &str) -> Client {
    retrying_after(url, Duration::from_millis(5))
}

fn retrying_after(url: &str, pause: Duration) -> Client {
    let policy = ExponentialBuilder::new().with_min_delay(pause).with_max_delay(pause);
    client(url, "pst_").expect("a client").with_retries(policy.with_max_times(3))
}

async fn create(client: &Client) -> Result<types::Plant, Failure> {
    Ok(client.create_plant().body(new_plant(1, "Ficus", None)).send().await?.into_inner())
}

/// Checks each row of a table.
fn each<R: Debug>(rows: impl IntoIterator<Item = R>, check: impl AsyncFn(R)) {
    let runtime = Runtime::new().expect("threads");
    each_row(rows, |row| runtime.block_on(check(row)));
}

/// Runs `client/examples/create_plant.rs` as described in its own comment.
#[test]
fn example_creates_a_plant_and_recognizes_409() {
    let server = Server::start();
    let example = build_example("create_plant");
    let run = |words: &str| {
        let mut command = Command::new(&example);
        command.env("PLANTS_URL", &server.url).env("PLANTS_TOKEN", &server.token);
        run(command.args(words.split(' ')))
    };
    for _ in 0..2 {
        assert!(run("2 Ficus indoor").succeeded().starts_with("created Plant"));
    }
    for other in ["2 Fern", "2 Fern indoor", "2 Ficus"] {
        assert!(run(other).stdout.starts_with("taken: "));
    }
    assert_eq!(server.export()[&2].tag.as_deref(), Some("indoor"));
    assert_ne!(run("two Fern").code, Some(0));
}

/// How often a request is sent that gets this answer first, and a plant after that.
async fn attempts(answer: &str, operation_id: &'static str) -> usize {
    let service = Scripted::start(&[answer.to_owned(), response("200 OK", "", PLANT)]);
    let client = retrying(&service.url);
    let request = client.client().post(format!("{}/plants", service.url)).body("{}");
    let request = request.build().expect("a request");
    let _ = client.inner().send(client.client(), request, &OperationInfo { operation_id }).await;
    service.heads().len()
}

/// The header decides, whatever the value of `error`. After no answer, the document decides.
#[test]
fn only_what_the_document_allows_is_sent_again() {
    let may_repeat = "retry-after: 0\r\n";
    let table = [
        (refusal(503, may_repeat), 2, 2),
        (refusal(409, may_repeat), 2, 2),
        (refusal(503, ""), 1, 1),
        (String::new(), 2, 1),
        (response("502 Bad Gateway", "", "<html>"), 2, 1),
        (response("503 Service Unavailable", may_repeat, "<html>"), 2, 2),
        (response("501 Not Implemented", "", "<html>"), 1, 1),
        (response("302 Found", "location: http://elsewhere\r\n", ""), 1, 1),
    ];
    each(table, async |(answer, idempotent, other)| {
        assert_eq!(attempts(&answer, "create_plant").await, idempotent, "create_plant");
        assert_eq!(attempts(&answer, "water_plant").await, other, "water_plant");
    });
}

/// The client could not decode a coded response, so it asks for a plain one.
#[tokio::test]
async fn retries_end_with_the_policy() {
    let service = Scripted::start(&[String::new()]);
    let failure = create(&retrying(&service.url)).await.expect_err("no answer");
    assert!(failure.is_retryable() && matches!(failure, Failure::NoResponse(_)), "{failure}");
    let heads = service.heads();
    assert_eq!(heads.len(), 4);
    for header in ["accept-encoding: identity", "authorization: Bearer pst_"] {
        assert!(heads.iter().all(|head| head.lines().any(|line| line == header)), "{heads:?}");
    }
}

/// HTTP allows a date (RFC 9110, section 10.2.3). A date has whole seconds.
#[test]
fn retry_after_is_obeyed_in_seconds_and_as_a_date() {
    each([false, true], async |is_date| {
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(2));
        let wait = if is_date { &date } else { "1" };
        let busy = response("503 Busy", &format!("retry-after: {wait}\r\n"), "");
        let service = Scripted::start(&[busy, response("200 OK", "", PLANT)]);
        let started = Instant::now();
        create(&retrying(&service.url)).await.expect("a plant");
        assert!(started.elapsed() > Duration::from_millis(900), "{wait}: {:?}", started.elapsed());
    });
}

/// Ten requests without a pause would not help a service that is busy.
#[test]
fn retry_after_of_zero_leaves_the_pause_of_the_policy() {
    each(["0", "Thu, 01 Jan 1970 00:00:00 GMT", "soon"], async |wait| {
        let busy = response("503 Busy", &format!("retry-after: {wait}\r\n"), "");
        let service = Scripted::start(&[busy, response("200 OK", "", PLANT)]);
        let pause = Duration::from_millis(300);
        let started = Instant::now();
        create(&retrying_after(&service.url, pause)).await.expect("a plant");
        assert!(started.elapsed() >= pause, "{:?}", started.elapsed());
    });
}

#[tokio::test]
async fn failure_has_the_code_and_the_wait_of_the_refusal() {
    let server = Server::starting().with(&["--store-timeout", "1s"]).start();
    let known = client(&server.url, &server.token).expect("a client");
    let unknown = client(&server.url, "pst_0123456789ABCDEFGHIJabcdefghij0038H4se");
    let refused = async |client: &Client, name: &str| {
        let sent = client.create_plant().body(new_plant(1, name, None)).send().await;
        let failure = Failure::from(sent.expect_err("a refusal"));
        let is_retryable = failure.is_retryable();
        let Failure::Refused { code, retry_after, request_id, .. } = failure else {
            panic!("{failure}")
        };
        assert!(request_id.is_some());
        (code, retry_after, is_retryable)
    };
    create(&known).await.expect("a plant");
    let unauthorized = (StatusCode::UNAUTHORIZED, None, false);
    assert_eq!(refused(&unknown.expect("a client"), "Ficus").await, unauthorized);
    assert_eq!(refused(&known, "Fern").await, (StatusCode::CONFLICT, None, false));
    let _lock = database::locked(&server);
    let unavailable = (StatusCode::SERVICE_UNAVAILABLE, Some(Duration::from_secs(1)), true);
    assert_eq!(refused(&known, "Ficus").await, unavailable);
}

/// The service closes the connection before it has read such a body.
#[tokio::test]
async fn large_body_that_is_refused_is_not_to_be_repeated() {
    let server = Server::start();
    let client = client(&server.url, &server.token).expect("a client");
    for megabytes in [3, 3, 20, 20] {
        let large = new_plant(1, &"x".repeat(megabytes << 20), None);
        let sent = client.create_plant().body(large).send().await;
        let failure = Failure::from(sent.expect_err("the body is too large"));
        assert!(!failure.is_retryable(), "{failure}");
    }
}

/// The token may change while the program runs.
#[tokio::test]
async fn token_is_asked_for_each_attempt() {
    let server = Server::start();
    let tokens = Mutex::new(vec!["pst_".to_owned(), server.token.clone()]);
    let token = move || {
        let mut tokens = tokens.lock().expect("no panic");
        if tokens.len() > 1 { tokens.remove(0) } else { tokens[0].clone() }
    };
    let client = client_with(settings(), &server.url, token).expect("a client");
    create(&client).await.expect("the second token is accepted");
}

#[test]
fn request_that_cannot_succeed_is_sent_once() {
    let server = Server::start();
    let (tls, _) = serving();
    let table = [
        (tls.url.clone(), "certificate"),
        (tls.url.replace("https:", "http:"), "does not speak plain HTTP on this port"),
        (server.url.replace("http:", "https:"), "does not speak TLS on this port"),
    ];
    each(table, async |(url, expected)| {
        let pem = Authority::new().pem();
        let stranger = reqwest::Certificate::from_pem(pem.as_bytes()).expect("a certificate");
        let settings = settings().tls_certs_only([stranger]);
        let client = client_with(settings, &url, || "pst_".to_owned()).expect("a client");
        let slow = ExponentialBuilder::new().with_min_delay(Duration::from_mins(1));
        let failure = create(&client.with_retries(slow)).await.expect_err("no answer");
        assert!(failure.to_string().contains(expected) && !failure.is_retryable(), "{failure}");
    });
}

/// The URL may contain a password, or be a token that was given by mistake.
#[test]
fn no_error_and_no_debug_output_shows_a_secret() {
    let urls = ["", "pst_secret", "ftp://secret", "http://user:secret@plants", "http://"];
    for url in urls.into_iter().chain(["http://plants?secret", "http://plants#secret"]) {
        let error = client(url, "pst_").expect_err("not the URL of a service");
        assert!(matches!(error, InvalidClient::Url(_)), "{error}");
        assert!(!format!("{error:?} {error}").contains("secret"), "{error}");
    }
    for token in ["", "secret word", "secret\n"] {
        let error = client("http://plants", token).expect_err("not a token");
        assert!(!format!("{error:?} {error}").contains("secret"), "{error}");
    }
    let shown = format!("{:?}", client("http://plants", "pst_secret"));
    assert!(shown.contains("http://plants") && !shown.contains("secret"), "{shown}");
}

/// A consumer may spawn a create on another thread.
#[test]
fn create_is_send() {
    fn is_send(_: impl Send) {}
    let _ = |client: &Client, plant: types::NewPlant| {
        is_send(client.create_plant().body(plant).send());
    };
}
