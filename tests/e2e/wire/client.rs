//! The generated client and its example program, against the real binary.

use std::process::Command;

use plant_store_client::{Client, ErrorCode, Failure, types};
use plant_store_tests::{Server, build_example, new_plant};

async fn create(client: &Client, name: &str, tag: Option<&str>) -> Result<types::Plant, Failure> {
    Ok(client.create_plant().body(new_plant(1, name, tag)).send().await?.into_inner())
}

#[tokio::test]
async fn client_handles_creates_repeats_409_and_401() {
    let server = Server::start();
    let client = server.client();
    for _ in 0..2 {
        let plant = create(&client, "Ficus", Some("indoor")).await.expect("a plant");
        assert_eq!((plant.name.as_str(), plant.tag.as_deref()), ("Ficus", Some("indoor")));
    }
    let unknown = server.client_with("pst_0123456789ABCDEFGHIJabcdefghij0038H4se");
    for (client, name, tag, code) in [
        (&client, "Fern", Some("indoor"), ErrorCode::Conflict),
        (&client, "Ficus", None, ErrorCode::Conflict),
        (&client, "Ficus", Some(""), ErrorCode::Conflict),
        (&unknown, "Ficus", None, ErrorCode::Unauthorized),
    ] {
        let failure = create(client, name, tag).await.expect_err("no plant");
        assert!(failure.code() == Some(code) && !failure.is_retryable(), "{failure}");
    }
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
