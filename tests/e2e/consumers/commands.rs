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
use super::{Finished, plants, run, write};
use crate::tls::serving;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

#[test]
fn create_plant_prints_the_plant_or_the_refusal() {
    let server = Server::start();
    let monstera =
        ["create-plant", "--id", "-7", "--name", "Monstera", "--tag", "tropical"].as_slice();
    for _ in 0..2 {
        let Finished { exit_code, stdout, stderr } = run(&mut plants(&server, monstera));
        assert_eq!((exit_code, stderr.as_str()), (Some(0), ""));
        assert_eq!(json(&stdout), json!({"name": "Monstera", "tag": "tropical"}));
    }
    let fern = &["create-plant", "--id", "-7", "--name", "Fern"];
    let Finished { exit_code, stdout, stderr } = run(&mut plants(&server, fern));
    assert_eq!((exit_code, stdout.as_str()), (Some(1), ""));
    assert_eq!(json(&stderr)["error"], 409);
    assert!(json(&stderr)["message"].as_str().expect("text").contains("plant -7"), "{stderr}");
    let mut stranger = plants(&server, monstera);
    let Finished { exit_code, stderr, .. } = run(stranger.env("PLANTS_TOKEN", "pst_"));
    assert_eq!((exit_code, json(&stderr)["error"].as_i64()), (Some(1), Some(401)));
    assert_eq!(server.export()[&-7].tag.as_deref(), Some("tropical"));
}

/// The error is reported at once, because a retry would fail in the same way.
#[test]
fn wrong_scheme_is_explained_without_a_retry() {
    let plain = Server::start();
    let (tls, _) = serving(&[]);
    let another = [
        (
            &plain,
            plain.url.replace("http:", "https:"),
            "the server does not speak TLS on this port",
        ),
        (
            &tls,
            tls.url.replace("https:", "http:"),
            "the server does not speak plain HTTP on this port",
        ),
    ];
    for (server, url, expected) in another {
        write(server, "ficus.jsonl", r#"{"id":1,"name":"Ficus"}"#);
        let arguments = ["--url", &url, "import", "ficus.jsonl"];
        let Imported { counts, stderr, .. } = import(&mut plants(server, &arguments));
        assert!(stderr.contains(expected) && stderr.contains("check whether the URL"), "{stderr}");
        assert_eq!(counts, [0, 0, 0], "{stderr}");
    }
}

#[test]
fn command_that_cannot_run_exits_2_and_sends_nothing() {
    let server = Server::start();
    write(&server, "list.json", "[]");
    write(&server, "words", "Bearer token");
    let only_owner = Permissions::from_mode(0o600);
    fs::set_permissions(server.folder().join("words"), only_owner).expect("a mode");
    let create = ["create-plant", "--id", "1", "--name", "Fern"].as_slice();
    for (arguments, expected) in [
        (["create-plant", "--id", "1"].as_slice(), "--name"),
        (&["create-plant", "--id", "one", "--name", "Fern"], "one"),
        (&["no-such-command"], "no-such-command"),
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
        (&[create, &["--url", "http://:password@plants"]].concat(), "must have no user"),
        (&["import", "none.jsonl"], "none.jsonl"),
        (&["import", "."], "cannot read .: Is a directory"),
        (&["create-plant", "--json-body", "."], "failed to read .: Is a directory"),
        (&["import", ".", "--rate", "0"], "0 is not in 1.."),
        (
            &["import", "list.json", "--token-file", "words"],
            "plants: cannot use words (--token-file or PLANTS_TOKEN_FILE): the token is empty",
        ),
    ] {
        let Finished { exit_code, stdout, stderr } = run(&mut plants(&server, arguments));
        assert_eq!((exit_code, stdout.as_str()), (Some(2), ""), "{arguments:?}: {stderr}");
        assert!(
            stderr.contains(expected) && !stderr.contains(&server.token),
            "{arguments:?}: {stderr}"
        );
        assert!(!stderr.contains("the token came from"), "{arguments:?}: {stderr}");
    }
    let mut without_token = plants(&server, create);
    let Finished { exit_code, stderr, .. } = run(without_token.env_remove("PLANTS_TOKEN"));
    assert_eq!(exit_code, Some(2));
    assert!(stderr.contains("--token-file"), "{stderr}");
    assert!(server.export().is_empty());
}

/// Returns what a command writes to a terminal.
pub fn on_a_terminal(command: impl FnOnce(File, File) -> Command) -> String {
    let (mut terminal, slave) = terminal();
    let other = slave.try_clone().expect("a handle");
    // The command is dropped here, and our copies of the slave side with it.
    let mut process = command(slave, other).spawn().expect("the program starts");
    let mut shown = Vec::new();
    // Read at once, because the buffer of a terminal is small.
    let _ = terminal.read_to_end(&mut shown);
    process.wait().expect("the program ends");
    String::from_utf8(shown).expect("text")
}

#[test]
fn terminal_gets_a_line_without_control_characters() {
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

/// nginx answers like this while the service is down, and if it refuses a body itself.
#[test]
fn response_of_a_proxy_is_reported_with_its_status_and_body() {
    let server = Server::start();
    write(&server, "plants.jsonl", "{\"id\":1,\"name\":\"Fern\"}");
    let create = ["create-plant", "--id", "1", "--name", "Fern"].as_slice();
    let arguments = ["import", "plants.jsonl", "--retries", "1"];
    for (status, imported) in [
        ("400 Bad Request", [0, 1, 0]),
        ("413 Payload Too Large", [0, 1, 0]),
        ("501 Not Implemented", [0, 0, 0]),
        ("502 Bad Gateway", [0, 0, 1]),
    ] {
        let url = proxy(status, "<html>no plant store</html>\r\n<hr>");
        let mut create = plants(&server, create);
        let Finished { exit_code, stdout, stderr } = run(create.env("PLANTS_URL", &url));
        assert_eq!((exit_code, stdout.as_str()), (Some(1), ""), "{stderr}");
        let expected = format!(
            "{url}/plants answered {status}, which is not a response of a plant store: \
             <html>no plant store</html> <hr>\n"
        );
        assert!(stderr.ends_with(&expected), "{stderr}");
        let mut importing = plants(&server, &arguments);
        let Imported { exit_code, counts, stderr, .. } = import(importing.env("PLANTS_URL", &url));
        assert_eq!((exit_code, counts), (Some(1), imported), "{stderr}");
    }
}

#[test]
fn base_url_with_an_extra_path_is_explained() {
    let server = Server::start();
    let url = format!("{}/api", server.url);
    let create = ["create-plant", "--id", "1", "--name", "Fern", "--url", &url];
    for arguments in [&create[..], &["check-token", "--url", &url]] {
        let Finished { exit_code, stderr, .. } = run(&mut plants(&server, arguments));
        let expected = format!(
            "plants: {url}/plants answered 404 Not Found, so there is no operation at this URL \
             (check whether the base URL should have no path): {{ \"request_id\": \""
        );
        assert!(exit_code == Some(1) && stderr.starts_with(&expected), "{stderr}");
        assert!(stderr.ends_with("\"message\": \"Not Found\" }\n"), "{stderr}");
    }
}

/// Starts a proxy that answers every request with this status and body. Returns its URL.
pub fn proxy(status: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("the listener is bound"));
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/html\r\n");
    let response = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.expect("a connection");
            let mut request = Vec::new();
            while !request.ends_with(b"}") && !request.ends_with(b"null") {
                let mut part = [0; 4096];
                let read = connection.read(&mut part).expect("a request");
                request.extend_from_slice(&part[..read]);
            }
            connection.write_all(response.as_bytes()).expect("the client reads");
        }
    });
    url
}

/// Every write to `/dev/full` fails.
#[test]
fn output_that_cannot_be_written_exits_1() {
    let server = Server::start();
    for arguments in [["create-plant", "--id", "1", "--name", "Fern"].as_slice(), &["check-token"]]
    {
        let full = File::options().write(true).open("/dev/full").expect("the device exists");
        let mut command = plants(&server, arguments);
        let output =
            command.stdout(full).stderr(Stdio::piped()).spawn().expect("the program starts");
        let output = output.wait_with_output().expect("the program ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        let expected = "plants: cannot write to standard output: No space left on device";
        assert!(stderr.starts_with(expected), "{arguments:?}: {stderr}");
    }
}
