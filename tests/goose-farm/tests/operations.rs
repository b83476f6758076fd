//! The operations, through the generated client and over plain sockets.

use std::time::Duration;

use goose_farm_client::Client;
use goose_farm_client::types::{Goose, NewGoose};
use groundwork_client::reqwest;
use groundwork_client::{Failure, Refusal, StatusCode};
use groundwork_testing::{Connection, JSON, Server, Suite, bearer, head};
use serde_json::{Value, json};

const MARTHA: &str =
    r#"{"id":1,"name":"Martha","grams":4200,"rings":[{"color":"blue","code":"A7"}]}"#;

fn suite() -> Suite {
    Suite::new(env!("CARGO_BIN_EXE_goose-farm"))
}

fn client(farm: &Server, token: &str) -> Client {
    groundwork_client::client(&farm.launched.url, token).expect("a client")
}

#[tokio::test]
async fn generated_client_creates_and_reads() {
    let farm = suite().serve(&[]);
    let client = client(&farm, &farm.api.token);
    for id in [1, i64::MIN, i64::MAX] {
        let martha = NewGoose { id, ..serde_json::from_str(MARTHA).expect("a goose") };
        let created =
            client.add_goose().body(martha.clone()).send().await.expect("200").into_inner();
        let rings = json!([{ "color": "blue", "code": "A7" }]);
        let goose = json!({ "name": "Martha", "grams": 4200, "rings": rings });
        assert_eq!(serde_json::to_value(&created).expect("JSON"), goose);
        let again = client.add_goose().body(martha.clone()).send().await.expect("200").into_inner();
        let read = client.get_goose().id(id).send().await.expect("200").into_inner();
        assert_eq!((&again, &read), (&created, &created));
    }
}

#[tokio::test]
async fn own_refusals_are_the_examples_in_the_document() {
    let farm = suite().serve(&[]);
    let client = client(&farm, &farm.api.token);
    let document: Value = serde_json::from_str(&suite().document()).expect("JSON");
    let response = &document["components"]["responses"]["Error"];
    let examples = &response["content"]["application/json"]["examples"];
    let missing = client.get_goose().id(1).send().await.expect_err("there is no goose");
    let heavy = NewGoose { grams: 42000, ..serde_json::from_str(MARTHA).expect("a goose") };
    let heavy = client.add_goose().body(heavy).send().await.expect_err("the goose is too heavy");
    for (error, refused) in [(404_u16, missing), (422, heavy)] {
        assert_eq!(refused.status().expect("an answer"), error);
        let Failure::Refused { code, message, .. } = Failure::from(refused) else { panic!() };
        assert_eq!(code, error);
        assert_eq!(message, examples[error.to_string()]["value"]["message"]);
    }
    let gander = reqwest::Client::new().get(format!("{}/geese/gander", farm.launched.url));
    let refused = gander.bearer_auth(&farm.api.token).send().await.expect("an answer");
    assert_eq!(refused.status(), 400);
    let refusal: Refusal = refused.json().await.expect("a refusal");
    assert!(refusal.error == 400 && refusal.message.contains("gander"), "{refusal:?}");
}

#[test]
fn name_has_its_bounds() {
    let farm = suite().serve(&[]);
    let named = |length| {
        let body = farm.api.body_with(1, "name", "ü".repeat(length).into());
        farm.api.post(&farm.api.token, JSON, &body).expect("an answer")
    };
    for length in [0, 41] {
        let (error, message) = named(length).refusal();
        let expected = format!("`name`: a name has 1 to 40 characters, not {length}");
        assert!(error == 400 && message.starts_with(&expected), "{message}");
    }
    assert_eq!(named(40).status, 200);
}

#[tokio::test]
async fn put_creates_under_the_id_in_its_path() {
    let farm = suite().serve(&[]);
    let client = client(&farm, &farm.api.token);
    let martha = || serde_json::from_str::<Goose>(MARTHA).expect("a goose");
    for _ in ["a create", "a repeat"] {
        let put = client.put_goose().id(7).body(martha()).send().await.expect("200");
        let read = client.get_goose().id(7).send().await.expect("200");
        assert_eq!((&*put, &*read), (&martha(), &martha()));
    }
    let other = client.put_goose().id(7).body(Goose { grams: 4100, ..martha() });
    let conflict = other.send().await.expect_err("a different goose");
    assert_eq!(conflict.status().expect("an answer"), 409);
}

/// The service reads the path before it asks for the body, and the body within its limit.
#[test]
fn put_refuses_its_path_and_its_body() {
    let farm = suite().serve(&[]);
    for (id, length, error) in [("gander", 9, 400), ("1", 65_537, 413)] {
        let headers = format!("{JSON}Content-Length: {length}\r\nExpect: 100-continue\r\n");
        let refused = farm.api.send(&format!("PUT /geese/{id}"), &farm.api.token, &headers, "");
        let refused = refused.expect("an answer");
        assert_eq!((refused.status, &refused.json()["error"]), (error, &error.into()));
    }
}

#[tokio::test]
async fn operation_authorizes_by_the_name_of_the_token() {
    let farm = suite().serve(&[]);
    let token = farm.run(&["token", "create", "visitor-1"]);
    let visitor = client(&farm, token.trim_end());
    let martha: Goose = serde_json::from_str(MARTHA).expect("a goose");
    let put = visitor.put_goose().id(1).body(martha).send().await.expect_err("only reads");
    assert_eq!(put.status().expect("an answer"), 403);
    let read = visitor.get_goose().id(1).send().await.expect_err("there is no goose");
    assert_eq!(read.status().expect("an answer"), 404);
}

#[tokio::test]
async fn overload_has_status_503_and_may_be_retried() {
    let farm = suite().serve(&["--max-creates", "1"]);
    let mut create = Connection::open(farm.launched.address);
    let length = "Content-Length: 9\r\nExpect: 100-continue\r\n";
    let head = head("POST /geese", &(bearer(&farm.api.token) + JSON + length));
    assert_eq!(create.exchange(head.as_bytes()).status, 100, "the create holds the permit");
    let client = client(&farm, &farm.api.token);
    let refused = client.get_goose().id(1).send().await.expect_err("there is no permit");
    assert_eq!(refused.status().expect("an answer"), 503);
    let Failure::Refused { code, retry_after, .. } = Failure::from(refused) else { panic!() };
    assert_eq!(code, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(retry_after, Some(Duration::from_secs(1)));
}
