//! The client that repeats a request if that may help, against the real binary.

use std::cell::RefCell;
use std::future::{pending, ready};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use plant_store_client::types::{self, NewPlant};
use plant_store_client::{
    Client, ClientOptions, ExponentialBuilder, Failure, InvalidClient, Provided, ResponseValue,
    RetryingClient, Try,
};
use plant_store_tests::tls::{Authority, TLS};
use plant_store_tests::{Server, new_plant};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::database;

const FICUS: &str = "Ficus";

/// Pauses so short that no test is slow, and as many of them as a slow machine needs.
fn policy() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(5))
        .with_max_delay(Duration::from_millis(20))
        .with_max_times(500)
        .with_jitter()
}

fn ficus(id: i64) -> NewPlant {
    new_plant(id, FICUS, None)
}

async fn client(options: ClientOptions, token: &str) -> RetryingClient {
    let token = token.to_owned();
    let provider = move || {
        let token = token.clone();
        async move { Ok(token) }
    };
    RetryingClient::new(options, provider).await.expect("a client").with_policy(policy())
}

/// Creates a plant, and counts how often it is sent.
async fn sent(client: &RetryingClient) -> (usize, Result<types::Plant, Failure>) {
    let attempts = AtomicUsize::new(0);
    let send = |client: Client| {
        attempts.fetch_add(1, Ordering::Relaxed);
        async move { client.create_plant().body(ficus(1)).send().await }
    };
    let created = client.repeat(send).await.map(ResponseValue::into_inner);
    (attempts.load(Ordering::Relaxed), created)
}

/// What a hook sees of each try.
fn seen<T: Send>(
    look: impl Fn(&Try) -> T + Send + Sync,
) -> (Arc<Mutex<Vec<T>>>, impl Fn(&Try) + Send + Sync) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    (seen.clone(), move |it: &Try| seen.lock().expect("no panic").push(look(it)))
}

/// A listener that closes the first connection, passes the second on to the server and cuts it off
/// before the answer, and passes on those that follow.
fn unreliable(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let client = client.expect("a connection");
            if number > 0 {
                let server = TcpStream::connect(server).expect("the server listens");
                pass(client.try_clone().expect("a handle"), server.try_clone().expect("a handle"));
                if number > 1 {
                    pass(server, client);
                } else {
                    let _ = (&server).read(&mut [0]).expect("the first byte of an answer");
                    client.shutdown(Shutdown::Both).expect("the client is connected");
                }
            }
        }
    });
    address
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            if to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
    });
}

#[tokio::test]
async fn create_is_repeated_when_the_connection_is_lost_before_and_after_the_commit() {
    let server = Server::start();
    let url = format!("http://{}", unreliable(server.address));
    let client = client(ClientOptions::new(&url), &server.token).await;
    let (attempts, created) = sent(&client).await;
    assert_eq!((attempts, created.expect("a plant").name.as_str()), (3, FICUS));
    assert_eq!(server.export().len(), 1);
}

#[tokio::test]
async fn create_is_repeated_after_503_and_waits_as_long_as_retry_after_says() {
    let server = Server::start();
    let client = client(ClientOptions::new(&server.url), &server.token).await;
    let (seen, hook) = seen(|it| {
        let asked_for = it.failure.and_then(Failure::retry_after);
        (it.number, asked_for, it.pause > asked_for, it.request_id.is_some())
    });
    let client = client.on_try(hook);
    let lock = RefCell::new(Some(database::locked(&server)));
    let send = |client: Client| {
        let lock = &lock;
        async move {
            let result = client.create_plant().body(ficus(1)).send().await;
            lock.take();
            result
        }
    };
    let started = Instant::now();
    assert_eq!(client.repeat(send).await.expect("a plant").name, FICUS);
    assert!(started.elapsed() > Duration::from_secs(1), "{:?}", started.elapsed());
    let second = Some(Duration::from_secs(1));
    assert_eq!(*seen.lock().expect("no panic"), [(1, second, true, true), (2, None, false, true)]);
}

#[tokio::test]
async fn repeats_end_with_the_policy_and_the_last_error() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let silent = format!("http://{}", silent.local_addr().expect("it is bound"));
    for (url, expected) in [("http://127.0.0.1:1", "Connection refused"), (&silent, "timed out")] {
        let mut options = ClientOptions::new(url);
        options.timeout = Duration::from_millis(50);
        let (seen, hook) =
            seen(|it| (it.number, it.failure.expect("no answer").to_string(), it.pause.is_some()));
        let endless = client(options, "pst_").await.with_policy(policy().without_max_times());
        let client = endless.clone().with_policy(policy().with_max_times(3)).on_try(hook);
        let (attempts, lost) = sent(&client).await;
        let said = lost.expect_err("no answer").to_string();
        assert_eq!(attempts, 4);
        assert!(said.contains(expected), "{said}");
        let expected = [1, 2, 3, 4].map(|number| (number, said.clone(), number < 4));
        assert_eq!(*seen.lock().expect("no panic"), expected);

        let started = Instant::now();
        let endless = endless.with_deadline(Duration::from_millis(120));
        assert!(sent(&endless).await.1.expect_err("no answer").is_retryable());
        let within = Duration::from_millis(50)..Duration::from_secs(10);
        assert!(within.contains(&started.elapsed()), "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn what_cannot_succeed_is_sent_once() {
    let server = Server::start();
    server.create(r#"{"id":1,"name":"Fern"}"#).plant();
    let starting = Server::starting();
    Authority::new().issue(starting.folder());
    let tls = starting.with(&TLS).start();
    let with_an_authority = |url: &str| {
        let mut options = ClientOptions::new(url);
        options.authorities = Some(Authority::new().pem().into_bytes());
        options
    };
    let https = format!("https://{}", server.address);
    let unknown = "pst_0123456789ABCDEFGHIJabcdefghij0038H4se";
    for (options, token, expected) in [
        (ClientOptions::new(&server.url), server.token.as_str(), "refused with 409: plant 1 "),
        (ClientOptions::new(&server.url), unknown, "refused with 401"),
        (with_an_authority(&tls.url), unknown, "certificate"),
        (with_an_authority(&https), unknown, ""),
    ] {
        let (attempts, refused) = sent(&client(options, token).await).await;
        let refused = refused.expect_err("no plant").to_string();
        assert_eq!(attempts, 1, "{refused}");
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn base_url_that_cannot_be_used_is_said_at_once() {
    let with_more = ["http://plants?x=1", "http://plants#x", "http://user:word@plants"];
    for url in ["", "plants", "127.0.0.1:8080", "ftp://plants", "http://"].iter().chain(&with_more)
    {
        match ClientOptions::new(url).client("pst_") {
            Err(InvalidClient::Url { url: said, .. }) => assert_eq!(said, *url),
            other => panic!("{url:?}: {other:?}"),
        }
    }
    let mut not_pem = ClientOptions::new("https://plants");
    not_pem.authorities = Some(b"plants".to_vec());
    assert!(matches!(not_pem.client("pst_"), Err(InvalidClient::Authority)));
}

#[tokio::test]
async fn refused_token_is_renewed_once_for_all_requests_and_they_are_sent_again() {
    let server = Server::start();
    let asked = Arc::new(AtomicUsize::new(0));
    let provider = {
        let token = server.token.clone();
        let asked = asked.clone();
        move || provided(asked.clone(), ready(Ok(token.clone())))
    };
    let client = RetryingClient::new(ClientOptions::new(&server.url), provider).await;
    let created = eight_at_once(&client.expect("a client")).await;
    assert!(created.iter().all(Result::is_ok), "{created:?}");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

/// Creates eight plants, each with a clone of the client. None is sent before all have their token.
async fn eight_at_once(client: &RetryingClient) -> Vec<Result<(), Failure>> {
    let mut requests = JoinSet::new();
    let all = Arc::new(Barrier::new(8));
    for id in 1..=8 {
        let client = client.clone();
        let all = all.clone();
        let send = move |client: Client| {
            let all = all.clone();
            async move {
                all.wait().await;
                client.create_plant().body(ficus(id)).send().await
            }
        };
        requests.spawn(async move { client.repeat(send).await.map(|_| ()) });
    }
    requests.join_all().await
}

/// At first a token that is not accepted, and later what `then` gives.
async fn provided(asked: Arc<AtomicUsize>, then: impl Future<Output = Provided>) -> Provided {
    match asked.fetch_add(1, Ordering::Relaxed) {
        0 => Ok("pst_".to_owned()),
        _ => then.await,
    }
}

/// One fails, the other has the time of a request.
#[tokio::test]
async fn provider_without_a_token_is_asked_once_for_all_that_wait_and_each_says_why() {
    let server = Server::start();
    let options = || {
        let mut options = ClientOptions::new(&server.url);
        options.timeout = Duration::from_secs(1);
        options
    };
    for (hangs, expected) in [
        (false, "; no token can be had: the vault is sealed"),
        (true, "the provider of the token took longer than 1s"),
    ] {
        let asked = Arc::new(AtomicUsize::new(0));
        let provider = {
            let asked = asked.clone();
            move || {
                provided(asked.clone(), async move {
                    if hangs { pending().await } else { Err("the vault is sealed".into()) }
                })
            }
        };
        let client = RetryingClient::new(options(), provider).await;
        for refused in eight_at_once(&client.expect("a client")).await {
            let failure = refused.expect_err("no token is accepted");
            assert!(!failure.is_retryable());
            let said = failure.to_string();
            assert!(said.starts_with("refused with 401") && said.ends_with(expected), "{said}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
    let hanging = RetryingClient::new(options(), pending).await.expect_err("no token");
    assert!(matches!(hanging, InvalidClient::Provider(_)), "{hanging:?}");
}

#[tokio::test]
async fn debug_output_of_the_client_shows_where_it_calls_and_no_token() {
    let client = client(ClientOptions::new("http://127.0.0.1:1"), "pst_secret").await;
    let shown = format!("{client:?}");
    assert!(shown.contains("http://127.0.0.1:1") && !shown.contains("secret"), "{shown}");
}
