//! The commands of `plants` that are generated from the document.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;

use plant_store_tests::{Server, terminal};
use serde_json::{Value, json};

use super::import::{Imported, import};
use super::{Ran, plants, run, write};
use crate::tls::serving;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

#[test]
fn create_plant_prints_the_plant_and_is_0_and_a_refusal_is_1_on_standard_error() {
    let server = Server::start();
    let monstera =
        ["create-plant", "--id", "-7", "--name", "Monstera", "--tag", "tropical"].as_slice();
    for _ in 0..2 {
        let Ran { status, printed, said } = run(&mut plants(&server, monstera));
        assert_eq!((status, said.as_str()), (Some(0), ""));
        assert_eq!(json(&printed), json!({"name": "Monstera", "tag": "tropical"}));
    }
    let fern = &["create-plant", "--id", "-7", "--name", "Fern"];
    let Ran { status, printed, said } = run(&mut plants(&server, fern));
    assert_eq!((status, printed.as_str()), (Some(1), ""));
    assert_eq!(json(&said)["error"], 409);
    assert!(json(&said)["message"].as_str().expect("text").contains("plant -7"), "{said}");
    let mut stranger = plants(&server, monstera);
    let Ran { status, said, .. } = run(stranger.env("PLANTS_TOKEN", "pst_"));
    assert_eq!((status, json(&said)["error"].as_i64()), (Some(1), Some(401)));
    assert_eq!(server.export()[&-7].tag.as_deref(), Some("tropical"));
}

/// At once: another try would get the same.
#[test]
fn scheme_that_the_server_does_not_speak_is_said() {
    let plain = Server::start();
    let (tls, _) = serving(&[]);
    let another = [
        (&plain, plain.url.replace("http:", "https:"), "the server does not speak TLS there"),
        (&tls, tls.url.replace("https:", "http:"), "the server does not speak HTTP there"),
    ];
    for (server, url, expected) in another {
        write(server, "ficus.jsonl", r#"{"id":1,"name":"Ficus"}"#);
        let words = ["--url", &url, "import", "ficus.jsonl"];
        let Imported { counts, said, .. } = import(&mut plants(server, &words));
        assert!(said.contains(expected) && said.contains("see whether its URL is"), "{said}");
        assert_eq!(counts, [0, 0, 0], "{said}");
    }
}

#[test]
fn command_with_which_nothing_is_sent_is_2_and_says_why() {
    let server = Server::start();
    write(&server, "list.json", "[]");
    write(&server, "words", "Bearer token");
    let only_owner = Permissions::from_mode(0o600);
    fs::set_permissions(server.folder().join("words"), only_owner).expect("a mode");
    let create = ["create-plant", "--id", "1", "--name", "Fern"].as_slice();
    for (arguments, expected) in [
        (["create-plant", "--id", "1"].as_slice(), "--name"),
        (&["create-plant", "--id", "one", "--name", "Fern"], "one"),
        (&["water-plant"], "water-plant"),
        (&["create-plant", "--json-body", "none.json"], "No such file"),
        (&["create-plant", "--json-body", "list.json", "--id", "1"], "--id"),
        (&["create-plant", "--json-body", "list.json"], "list.json"),
        (&[create, &["--token-file", "none"]].concat(), "none (--token-file"),
        (&[create, &["--token-file", "words"]].concat(), "use words (--token-file or PLANTS_TOKEN"),
        (&[create, &["--token", ""]].concat(), "--token or PLANTS_TOKEN: the token is empty"),
        (&[create, &["--ca-file", "none"]].concat(), "none (--ca-file)"),
        (&[create, &["--ca-file", "list.json"]].concat(), "list.json (--ca-file): no certificate"),
        (&[create, &["--url", "plants:80"]].concat(), "PLANTS_URL: the base URL \"plants:80\""),
        (&[create, &["--url", "ftp://plants"]].concat(), "neither http:// nor https://"),
        (&[create, &["--url", "http://:password@plants"]].concat(), "has no user"),
        (&["import", "none.jsonl"], "none.jsonl"),
        (&["import", "."], "cannot read .: Is a directory"),
        (&["create-plant", "--json-body", "."], "failed to read .: Is a directory"),
        (&["import", ".", "--rate", "0"], "0 is not in 1.."),
        (
            &["import", "list.json", "--token-file", "words"],
            "plants: cannot use words (--token-file or PLANTS_TOKEN_FILE): the token is empty",
        ),
    ] {
        let Ran { status, printed, said } = run(&mut plants(&server, arguments));
        assert_eq!((status, printed.as_str()), (Some(2), ""), "{arguments:?}: {said}");
        assert!(said.contains(expected) && !said.contains(&server.token), "{arguments:?}: {said}");
        assert!(!said.contains("the token is that of"), "{arguments:?}: {said}");
    }
    let mut without_token = plants(&server, create);
    let Ran { status, said, .. } = run(without_token.env_remove("PLANTS_TOKEN"));
    assert_eq!(status, Some(2));
    assert!(said.contains("--token-file"), "{said}");
    assert!(server.export().is_empty());
}

/// What a command writes to a terminal.
pub fn on_a_terminal(command: impl FnOnce(File, File) -> Command) -> String {
    let (mut terminal, slave) = terminal();
    let other = slave.try_clone().expect("a handle");
    // The command is dropped here, and with it our copies of the slave side.
    let mut process = command(slave, other).spawn().expect("the program starts");
    let mut shown = Vec::new();
    // It begins at once, because a terminal that is not read takes only so much.
    let _ = terminal.read_to_end(&mut shown);
    process.wait().expect("the program ends");
    String::from_utf8(shown).expect("text")
}

#[test]
fn terminal_gets_a_line_for_people_in_which_nothing_controls_it() {
    let server = Server::start();
    let create = |name: &str, id: &str| {
        let arguments = ["create-plant", "--id", id, "--name", name];
        on_a_terminal(|stdout, stderr| {
            let mut command = plants(&server, &arguments);
            command.stdout(stdout).stderr(stderr);
            command
        })
    };
    assert_eq!(create("Fern\u{1b}[2J\u{9b}", "1"), "name \"Fern\\u{1b}[2J\\u{9b}\"\r\n");
    let refused = create("Ficus", "1");
    assert!(refused.starts_with("plants: refused with 409: plant 1 "), "{refused:?}");
}

#[test]
fn completions_know_the_operations_of_the_contract() {
    let server = Server::start();
    for shell in ["bash", "zsh", "fish"] {
        let Ran { status, printed, .. } = run(&mut plants(&server, &["completions", shell]));
        assert_eq!(status, Some(0));
        assert!(printed.contains("create-plant") && printed.contains("import"), "{shell}");
    }
}

/// As nginx does while the service is down, and if it lets no such body pass.
#[test]
fn answer_of_a_proxy_is_said_with_its_status_and_its_body_in_one_line() {
    let server = Server::start();
    write(&server, "plants.jsonl", "{\"id\":1,\"name\":\"Fern\"}");
    let create = ["create-plant", "--id", "1", "--name", "Fern"].as_slice();
    let words = ["import", "plants.jsonl", "--retries", "1"];
    for (status, imported) in [
        ("400 Bad Request", [0, 1, 0]),
        ("413 Payload Too Large", [0, 1, 0]),
        ("501 Not Implemented", [0, 0, 0]),
        ("502 Bad Gateway", [0, 0, 1]),
    ] {
        let url = proxy(status, "<html>no plant store</html>\r\n<hr>");
        let mut create = plants(&server, create);
        let Ran { status: exited, printed, said } = run(create.env("PLANTS_URL", &url));
        assert_eq!((exited, printed.as_str()), (Some(1), ""), "{said}");
        let expected = format!(
            "{url}/plants answered {status}, which an operation of a plant store does not: \
             <html>no plant store</html> <hr>\n"
        );
        assert!(said.ends_with(&expected), "{said}");
        let mut importing = plants(&server, &words);
        let Imported { status, counts, said, .. } = import(importing.env("PLANTS_URL", &url));
        assert_eq!((status, counts), (Some(1), imported), "{said}");
    }
}

#[test]
fn path_too_many_in_the_url_is_said_with_what_the_server_answers() {
    let server = Server::start();
    let url = format!("{}/api", server.url);
    let create = ["create-plant", "--id", "1", "--name", "Fern", "--url", &url];
    for words in [&create[..], &["check-token", "--url", &url]] {
        let Ran { status, said, .. } = run(&mut plants(&server, words));
        let expected = format!(
            "plants: {url}/plants answered 404 Not Found, so no operation is there (see whether \
             the base URL has a path too many): {{ \"request_id\": \""
        );
        assert!(status == Some(1) && said.starts_with(&expected), "{said}");
        assert!(said.ends_with("\"message\": \"Not Found\" }\n"), "{said}");
    }
}

/// Answers each request like this. Returns its URL.
pub fn proxy(status: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/html\r\n");
    let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.expect("a connection");
            let mut request = Vec::new();
            while !request.ends_with(b"}") && !request.ends_with(b"null") {
                let mut part = [0; 4096];
                let read = connection.read(&mut part).expect("a request");
                request.extend_from_slice(&part[..read]);
            }
            connection.write_all(answer.as_bytes()).expect("the client reads");
        }
    });
    url
}

/// `/dev/full` takes nothing.
#[test]
fn output_that_cannot_be_written_is_1_and_said() {
    let server = Server::start();
    for words in [
        ["create-plant", "--id", "1", "--name", "Fern"].as_slice(),
        &["check-token"],
        &["completions", "bash"],
    ] {
        let full = File::options().write(true).open("/dev/full").expect("it is there");
        let mut command = plants(&server, words);
        let output = command.stdout(full).stderr(Stdio::piped()).spawn().expect("a start");
        let output = output.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        let expected = "plants: cannot write to standard output: No space left on device";
        assert!(said.starts_with(expected), "{words:?}: {said}");
    }
}
