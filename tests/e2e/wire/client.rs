//! The generated client and its example program, against the real binary.

use std::process::Command;

use nix::sys::signal::Signal;
use plant_store_client::types;
use plant_store_client::{Client, Error, ErrorCode, Failure, ResponseValue, client_with_token};
use plant_store_tests::{Server, build_example, new_plant};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::database;

type Created = Result<types::Plant, Failure>;

async fn create(client: &Client, name: &str, tag: Option<&str>) -> Created {
    Ok(client.create_plant().body(new_plant(1, name, tag)).send().await?.into_inner())
}

/// Returns the `error` of a refusal, and whether the client may repeat the request.
fn code_and_is_retryable(result: Created) -> (Option<i32>, bool) {
    let failure = result.expect_err("no plant");
    (failure.code().map(ErrorCode::number), failure.is_retryable())
}

#[tokio::test]
async fn client_handles_creates_repeats_409_and_401() {
    let server = Server::start();
    let client = server.client();
    for _ in 0..2 {
        let plant = create(&client, "Ficus", Some("indoor")).await.expect("a plant");
        assert_eq!((plant.name.as_str(), plant.tag.as_deref()), ("Ficus", Some("indoor")));
    }
    for (name, tag) in [("Fern", Some("indoor")), ("Ficus", None), ("Ficus", Some(""))] {
        assert_eq!(code_and_is_retryable(create(&client, name, tag).await), (Some(409), false));
    }
    let unknown = server.client_with("pst_0123456789ABCDEFGHIJabcdefghij0038H4se");
    assert_eq!(code_and_is_retryable(create(&unknown, "Ficus", None).await), (Some(401), false));
}

#[tokio::test]
async fn client_treats_503_500_and_lost_connections_as_retryable() {
    let mut server = Server::starting().with(&["--store-timeout", "1s"]).start();
    let client = server.client();
    let lock = database::locked(&server);
    assert_eq!(code_and_is_retryable(create(&client, "Ficus", None).await), (Some(503), true));
    drop(lock);
    create(&client, "Ficus", None).await.expect("the store accepts writes again");
    database::drop_plants_table(&server);
    assert_eq!(code_and_is_retryable(create(&client, "Ficus", None).await), (Some(500), true));
    server.signal(Signal::SIGKILL);
    server.wait();
    assert_eq!(code_and_is_retryable(create(&client, "Ficus", None).await), (None, true));
}

/// An unknown value counts as the x00 value of its class (RFC 9110, section 15).
#[test]
fn retryability_follows_the_value_or_its_class() {
    for (error, is_retryable) in
        [(400, false), (409, false), (418, false), (429, true), (503, true), (507, true)]
    {
        let body = types::Error { error, message: String::new() };
        let response = ResponseValue::new(body, StatusCode::BAD_REQUEST, HeaderMap::new());
        let failure = Failure::from(Error::ErrorResponse(response));
        assert_eq!(failure.is_retryable(), is_retryable, "{error}");
    }
}

#[test]
fn error_for_a_malformed_token_does_not_repeat_it() {
    let error = client_with_token("http://127.0.0.1:1", "pst_\n").err();
    let error = error.expect("a header value cannot hold a line break").to_string();
    assert!(!error.contains("pst_"), "{error}");
}

/// Runs `client/examples/create_plant.rs` as described in its own comment.
#[test]
fn example_creates_a_plant_and_recognizes_409() {
    let server = Server::start();
    let example = build_example("create_plant").expect("the example builds");
    let run = |words: &[&str]| {
        let mut command = Command::new(&example);
        command.env("PLANTS_URL", &server.url).env("PLANTS_TOKEN", &server.token);
        command.args(words).output().expect("the example starts")
    };
    let created = run(&["2", "Ficus", "indoor"]);
    assert!(created.status.success());
    assert!(String::from_utf8_lossy(&created.stdout).starts_with("created Plant"));
    let taken = run(&["2", "Fern"]);
    assert!(String::from_utf8_lossy(&taken.stdout).starts_with("taken: "));
    assert_eq!(server.export()[&2].tag.as_deref(), Some("indoor"));
    assert!(!run(&["two", "Fern"]).status.success());
}
