//! The retrying client, against the real binary.

use std::future::{pending, ready};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use plant_store_client::types::{self, NewPlant};
use plant_store_client::{
    ClientOptions, ExponentialBuilder, Failure, InvalidClient, ResponseValue, RetryingClient,
    TokenResult, client_with_token,
};
use plant_store_tests::tls::{Authority, TLS};
use plant_store_tests::{Server, new_plant};
use tokio::task::JoinSet;

use crate::database;

const FICUS: &str = "Ficus";

/// A retry policy with short pauses for fast tests, and enough retries for a slow machine.
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

/// Creates a plant. Returns how often the request was sent, and the result.
async fn send(client: RetryingClient) -> (usize, Result<types::Plant, Failure>) {
    let retries = Arc::new(AtomicUsize::new(0));
    let counted = retries.clone();
    let client = client.before_retry(move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let created = client.create_plant().body(ficus(1)).send().await;
    let created = created.map(ResponseValue::into_inner).map_err(Failure::from);
    (retries.load(Ordering::Relaxed) + 1, created)
}

/// Starts a proxy that closes the first connection, forwards the second to the server but cuts it
/// off before the response, and forwards all further connections.
fn unreliable(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("the listener is bound");
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let client = client.expect("a connection");
            if number > 0 {
                let server = TcpStream::connect(server).expect("the server listens");
                forward(
                    client.try_clone().expect("a handle"),
                    server.try_clone().expect("a handle"),
                );
                if number > 1 {
                    forward(server, client);
                } else {
                    let _ = (&server).read(&mut [0]).expect("the first byte of a response");
                    client.shutdown(Shutdown::Both).expect("the client is connected");
                }
            }
        }
    });
    address
}

fn forward(mut from: TcpStream, mut to: TcpStream) {
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
async fn create_is_retried_after_lost_connections() {
    let server = Server::start();
    let url = format!("http://{}", unreliable(server.address));
    let client = client(ClientOptions::new(&url), &server.token).await;
    let (attempts, created) = send(client).await;
    assert_eq!((attempts, created.expect("a plant").name.as_str()), (3, FICUS));
    assert_eq!(server.export().len(), 1);
}

#[tokio::test]
async fn create_waits_for_the_retry_after_of_a_503() {
    let server = Server::start();
    let client = client(ClientOptions::new(&server.url), &server.token).await;
    let lock = Mutex::new(Some(database::locked(&server)));
    let client = client.before_retry(move |failure, pause| {
        assert_eq!(failure.retry_after(), Some(Duration::from_secs(1)));
        assert!(pause > Duration::from_secs(1) && failure.request_id().is_some());
        lock.lock().expect("no panic").take();
    });
    let started = Instant::now();
    let created = client.create_plant().body(ficus(1)).send().await.expect("a plant");
    assert_eq!(created.name, FICUS);
    assert!(started.elapsed() > Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn retries_end_with_the_policy() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let silent = format!("http://{}", silent.local_addr().expect("the listener is bound"));
    for (url, expected) in [("http://127.0.0.1:1", "Connection refused"), (&silent, "timed out")] {
        let mut options = ClientOptions::new(url);
        options.timeout = Duration::from_millis(50);
        let client = client(options, "pst_").await.with_policy(policy().with_max_times(3));
        let (attempts, lost) = send(client).await;
        let lost = lost.expect_err("no answer");
        assert_eq!(attempts, 4);
        assert!(lost.to_string().contains(expected) && lost.is_retryable(), "{lost}");
    }
}

#[tokio::test]
async fn request_that_cannot_succeed_is_sent_once() {
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
        let (attempts, refused) = send(client(options, token).await).await;
        let refused = refused.expect_err("no plant").to_string();
        assert_eq!(attempts, 1, "{refused}");
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn invalid_base_url_is_an_error_at_once() {
    let with_more = ["http://plants?x=1", "http://plants#x", "http://user:word@plants"];
    for url in ["", "plants", "127.0.0.1:8080", "ftp://plants", "http://"].iter().chain(&with_more)
    {
        match ClientOptions::new(*url).client("pst_") {
            Err(InvalidClient::Url { url: reported, .. }) => assert_eq!(reported, *url),
            other => panic!("{url:?}: {other:?}"),
        }
    }
    let mut not_pem = ClientOptions::new("https://plants");
    not_pem.authorities = Some(b"plants".to_vec());
    assert!(matches!(not_pem.client("pst_"), Err(InvalidClient::Authority)));
}

#[tokio::test]
async fn refused_token_is_renewed_once_for_all_requests() {
    let server = Server::start();
    let asked = Arc::new(AtomicUsize::new(0));
    let provider = {
        let token = server.token.clone();
        let asked = asked.clone();
        move || provide(asked.clone(), ready(Ok(token.clone())))
    };
    let client = RetryingClient::new(ClientOptions::new(&server.url), provider).await;
    let created = eight_at_once(&client.expect("a client")).await;
    assert!(created.iter().all(Result::is_ok), "{created:?}");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

/// Creates eight plants at once, each with a clone of the client.
async fn eight_at_once(client: &RetryingClient) -> Vec<Result<(), Failure>> {
    let mut requests = JoinSet::new();
    for id in 1..=8 {
        let client = client.clone();
        requests.spawn(async move {
            let created = client.create_plant().body(ficus(id)).send().await;
            created.map(drop).map_err(Failure::from)
        });
    }
    requests.join_all().await
}

/// Returns an invalid token at the first call, and the result of `then` at later calls.
async fn provide(asked: Arc<AtomicUsize>, then: impl Future<Output = TokenResult>) -> TokenResult {
    match asked.fetch_add(1, Ordering::Relaxed) {
        0 => Ok("pst_".to_owned()),
        _ => then.await,
    }
}

/// One provider fails, and the other hangs until it times out.
#[tokio::test]
async fn failed_renewal_is_reported_by_every_waiting_request() {
    let server = Server::start();
    let options = || {
        let mut options = ClientOptions::new(&server.url);
        options.timeout = Duration::from_secs(1);
        options
    };
    for (hangs, expected) in [
        (false, "; cannot get a token: the vault is sealed"),
        (true, "the token provider took longer than 1s"),
    ] {
        let asked = Arc::new(AtomicUsize::new(0));
        let provider = {
            let asked = asked.clone();
            move || {
                provide(asked.clone(), async move {
                    if hangs { pending().await } else { Err("the vault is sealed".into()) }
                })
            }
        };
        let client = RetryingClient::new(options(), provider).await;
        for refused in eight_at_once(&client.expect("a client")).await {
            let failure = refused.expect_err("no token is accepted");
            assert!(!failure.is_retryable());
            let message = failure.to_string();
            assert!(message.starts_with("refused with 401"), "{message}");
            assert!(message.ends_with(expected), "{message}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
    let hanging = RetryingClient::new(options(), pending).await.expect_err("no token");
    assert!(matches!(hanging, InvalidClient::Provider(_)), "{hanging:?}");
}

/// A `main` that returns the error prints its `Debug` output.
#[tokio::test]
async fn debug_output_of_invalid_client_contains_all_causes() {
    let provider = || async { Ok(std::fs::read_to_string("/no/token")?) };
    let options = ClientOptions::new("http://127.0.0.1:1");
    let missing = RetryingClient::new(options.clone(), provider).await.expect_err("no token");
    let expected = "InvalidClient(\"cannot get a token: No such file or directory (os error 2)\")";
    assert_eq!(format!("{missing:?}"), expected);
    let empty = options.client("").expect_err("no token");
    let shown = format!("{empty:?}");
    assert!(shown.starts_with("InvalidClient(\"the token is empty, or contains"), "{shown}");
}

#[tokio::test]
async fn debug_output_of_client_shows_the_url_but_no_token() {
    let client = client(ClientOptions::new("http://127.0.0.1:1"), "pst_secret").await;
    let shown = format!("{client:?}");
    assert!(shown.contains("http://127.0.0.1:1") && !shown.contains("secret"), "{shown}");
}

/// An endless body could exhaust the memory. A client that read it all would wait for the timeout
/// and return no status.
#[tokio::test]
async fn endless_response_of_a_proxy_is_read_in_part() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("the listener is bound"));
    thread::spawn(move || {
        let mut client = listener.accept().expect("a connection").0;
        let _ = client.read(&mut [0; 1024]).expect("a request");
        client.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").expect("the client reads");
        let _ = client.write_all(&vec![b'x'; 1024 * 1024]);
        while client.read(&mut [0; 1024]).is_ok_and(|read| read > 0) {}
    });
    let client = client_with_token(url, "token").expect("a client");
    let refused = client.create_plant().body(ficus(1)).send().await.expect_err("no plant store");
    let failure = Failure::from(refused);
    assert_eq!(failure.status(), Some(502), "{failure}");
}
