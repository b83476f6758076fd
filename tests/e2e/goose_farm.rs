//! A second service on the same libraries, with two ways to create and a read: the goose farm. Its
//! own `tests/suite.rs` has the tests that every service runs.

use goose_farm_client::Client;
use goose_farm_client::types::{Goose, NewGoose};
use groundwork_client::{Failure, Refusal, StatusCode};
use plant_store_tests::prelude::*;
use plant_store_tests::{GOOSE_FARM, token};

const MARTHA: &str =
    r#"{"id":1,"name":"Martha","grams":4200,"rings":[{"color":"blue","code":"A7"}]}"#;

/// Returns a command that runs the goose farm in a folder.
fn goose_farm(folder: &Path) -> Command {
    let mut command = Command::new(&*GOOSE_FARM);
    command.current_dir(folder).env("GOOSE_FARM_LISTEN", "127.0.0.1:0").stderr(Stdio::null());
    command
}

/// A goose farm with a new store, and its first token.
struct Farm {
    folder: TempDir,
    launched: Launched,
    token: String,
}

impl Farm {
    fn start(flags: &[&str]) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let launched = Launched::start(goose_farm(folder.path()).arg("serve").args(flags));
        let launched = launched.expect("it serves");
        let first_request = launched.first_request.as_deref().expect("a new store");
        let token = token(first_request).expect("a token").to_owned();
        Self { folder, launched, token }
    }

    fn client(&self) -> Client {
        groundwork_client::client(&self.launched.url, &self.token).expect("a client")
    }

    /// Returns the head of a request with a token and a body, which asks for `100 Continue`.
    fn head(&self, line: &str, content_length: usize) -> String {
        format!(
            "{line} HTTP/1.1\r\nHost: test\r\n{}Content-Type: application/json\r\n\
             Content-Length: {content_length}\r\nExpect: 100-continue\r\n\r\n",
            bearer(&self.token)
        )
    }

    /// Runs a command on the store, and returns its stdout.
    fn run(&self, words: &str) -> String {
        run(goose_farm(self.folder.path()).args(words.split(' '))).succeeded()
    }
}

/// The pages of the libraries name the folder of the second service, and nothing else does.
#[test]
fn libraries_name_no_service() {
    let words =
        ["-rniE", "plant|goose|geese|pst_|gse_", "server/kit", "server/store", "client/kit"];
    let found = run(Command::new("grep").args(words).current_dir(root())).succeeded();
    assert!(found.contains("tests/goose-farm"), "grep looks at the pages");
    let found: Vec<_> = found.lines().filter(|line| !line.contains("tests/goose-farm")).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn all_names_follow_from_the_program() {
    let farm = Farm::start(&["--metrics", "127.0.0.1:0", "--store", "sqlite:goose-farm.db"]);
    assert!(farm.token.starts_with("gse_"), "the prefix of the service");
    assert!(farm.folder.path().join("goose-farm.db").exists());
    assert!(farm.run("serve --help").contains("[env: GOOSE_FARM_MAX_BODY="));
    assert!(farm.run("--help").contains("goose farm"));
    let help = ["serve", "token", "export", "copy", "check"].map(|command| {
        let help = farm.run(&format!("{command} --help"));
        assert!(!help.contains('{') && !help.contains("plant"), "{help}");
        help
    });
    assert!(help.concat().contains("geese"));
}

#[tokio::test]
async fn generated_client_creates_and_reads() {
    let farm = Farm::start(&[]);
    let client = farm.client();
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
    let farm = Farm::start(&[]);
    let client = farm.client();
    let document: Value = serde_json::from_str(&farm.run("openapi")).expect("JSON");
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
    let refused = gander.bearer_auth(&farm.token).send().await.expect("an answer");
    assert_eq!(refused.status(), 400);
    let refusal: Refusal = refused.json().await.expect("a refusal");
    assert!(refusal.error == 400 && refusal.message.contains("gander"), "{refusal:?}");
}

#[tokio::test]
async fn put_creates_under_the_id_in_its_path() {
    let farm = Farm::start(&[]);
    let client = farm.client();
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
    let farm = Farm::start(&[]);
    for (id, length, error) in [("gander", 9, 400), ("1", 65_537, 413)] {
        let mut connection = Connection::open(farm.launched.address);
        let refused =
            connection.exchange(farm.head(&format!("PUT /geese/{id}"), length).as_bytes());
        assert_eq!((refused.status, &refused.json()["error"]), (error, &error.into()));
    }
}

#[tokio::test]
async fn operation_authorizes_by_the_name_of_the_token() {
    let mut farm = Farm::start(&[]);
    farm.run("token create visitor-1").trim_end().clone_into(&mut farm.token);
    let visitor = farm.client();
    let martha: Goose = serde_json::from_str(MARTHA).expect("a goose");
    let put = visitor.put_goose().id(1).body(martha).send().await.expect_err("only reads");
    assert_eq!(put.status().expect("an answer"), 403);
    let read = visitor.get_goose().id(1).send().await.expect_err("there is no goose");
    assert_eq!(read.status().expect("an answer"), 404);
}

#[tokio::test]
async fn overload_has_status_503_and_may_be_retried() {
    let farm = Farm::start(&["--max-creates", "1"]);
    let mut create = Connection::open(farm.launched.address);
    let continues = create.exchange(farm.head("POST /geese", 9).as_bytes());
    assert_eq!(continues.status, 100, "the create holds the permit");
    let refused = farm.client().get_goose().id(1).send().await.expect_err("there is no permit");
    assert_eq!(refused.status().expect("an answer"), 503);
    let Failure::Refused { code, retry_after, .. } = Failure::from(refused) else { panic!() };
    assert_eq!(code, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(retry_after, Some(Duration::from_secs(1)));
}
