//! The commands of `plants` that are generated from the document, and `check-token`.

use std::fs::File;
use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::{Server, terminal};

use super::{Finished, Scripted, plants, response, run, write};

const CREATE: [&str; 5] = ["create-plant", "--id", "1", "--name", "Fern"];
const ACCEPTED: &str = "{\"accepted\":true}\n";

#[test]
fn create_plant_prints_the_plant_or_the_refusal() {
    let server = Server::start();
    let monstera = ["create-plant", "--id", "-7", "--name", "Monstera", "--tag", "-x"].as_slice();
    for _ in 0..2 {
        let created = run(&mut plants(&server, monstera));
        created.expect(0, "{\"name\":\"Monstera\",\"tag\":\"-x\"}\n", "");
    }
    let fern = ["create-plant", "--id", "-7", "--name", "Fern"];
    run(&mut plants(&server, &fern)).expect(1, "", "{\"error\":409,\"message\":\"plant -7 ");
    let mut stranger = plants(&server, monstera);
    run(stranger.env("PLANTS_TOKEN", "pst_")).expect(1, "", "{\"error\":401,");
    assert_eq!(server.export()[&-7].tag.as_deref(), Some("-x"));
}

#[test]
fn command_that_cannot_run_exits_2_and_sends_nothing() {
    let server = Server::start();
    write(&server, "list.json", "[]");
    for (arguments, expected) in [
        (["create-plant", "--id", "1"].as_slice(), "--name"),
        (&["create-plant", "--id", "one", "--name", "Fern"], "one"),
        (&["create-plant", "--id", "007", "--name", "Fern"], "invalid number"),
        (&["create-plant", "--id", "+108", "--name", "Fern"], "expected value"),
        (&["no-such-command"], "no-such-command"),
        (&["create-plant", "--json-body", "none.json"], "No such file"),
        (&["create-plant", "--json-body", "list.json", "--tag", "indoor"], "--json-body"),
        (&[&CREATE[..], &["--url", "plants:80"]].concat(), "--url or PLANTS_URL"),
        (&[&CREATE[..], &["--url", "http://u:secret@plants"]].concat(), "must have no user"),
        (&[&CREATE[..], &["--url", "pst_secret"]].concat(), "write http://HOST:PORT"),
        (&["import", "none.jsonl"], "cannot read none.jsonl: No such file"),
        (&["import", "plants.CSV"], "CSV is not supported: client/README.md converts it"),
    ] {
        let finished = run(&mut plants(&server, arguments));
        finished.expect(2, "", expected);
        assert!(!finished.stderr.contains("secret"), "{finished:?}");
    }
    let mut without_token = plants(&server, &CREATE);
    run(without_token.env_remove("PLANTS_TOKEN")).expect(2, "", "there is no token");
    assert!(server.export().is_empty());
}

/// The service refuses each of these bodies, except that it ignores the unknown member: its value
/// would be lost.
#[test]
fn both_commands_refuse_a_body_that_is_not_exactly_a_plant() {
    let server = Server::start();
    for (body, expected) in [
        (r#"[1,"Fern","x"]"#, "it is not a JSON object"),
        ("null", "it is not a JSON object"),
        (r#"{"id":1,"name":"Fern","tags":"indoor"}"#, "the contract has no member `tags`"),
        (r#"{"id":1,"name":"Fern","tag":null}"#, "`tag` is null: leave the member out"),
        (r#"{"id":1,"name":"Fern","name":"Fern"}"#, "duplicate field `name`"),
        (r#"{"id":1,"name":"Fern"} {}"#, "trailing characters"),
        (r#"{"id":1,"name":"Fern""#, "EOF while parsing"),
        (r#"{"id":1}"#, "missing field `name`"),
        (r#"{"id":"1","name":"Fern"}"#, "invalid type: string \"1\", expected i64"),
        (r#"{"id":1.0,"name":"Fern"}"#, "invalid type: floating point `1.0`"),
        (r#"{"id":9223372036854775808,"name":"Fern"}"#, "invalid value"),
        (r#"{"id":01,"name":"Fern"}"#, "invalid number"),
        (r#"{"id":1,"name":"\ud800"}"#, "hex escape"),
    ] {
        write(&server, "plant.json", body);
        let create = ["create-plant", "--json-body", "plant.json"];
        run(&mut plants(&server, &create)).expect(2, "", expected);
        let imported = run(&mut plants(&server, &["import", "plant.json"]));
        imported.expect(1, &format!("{body}\n"), expected);
        assert!(imported.stderr.starts_with("plant.json:1: "), "{imported:?}");
    }
    assert!(server.export().is_empty());
    // Windows programs write a byte order mark.
    write(&server, "plant.json", "\u{feff}{\n  \"id\": 1,\r\n  \"name\": \"Fern\"\n}\n");
    let create = ["create-plant", "--json-body", "plant.json"];
    run(&mut plants(&server, &create)).expect(0, "{\"name\":\"Fern\"}\n", "");
}

#[test]
fn check_token_tests_the_token_without_creating_a_plant() {
    let server = Server::start();
    run(&mut plants(&server, &["check-token"])).expect(0, ACCEPTED, "");
    let mut refused = plants(&server, &["check-token"]);
    run(refused.env("PLANTS_TOKEN", "pst_")).expect(1, "", "\"error\":401");
    let nobody = ["check-token", "--url", "http://127.0.0.1:1"];
    run(&mut plants(&server, &nobody)).expect(1, "", "Connection refused");
    assert!(server.export().is_empty());
    // Responses that prove nothing: a login page, and refusals that do not concern the token.
    for (status, body, expected) in [
        ("200 OK", "<html>Log in</html>", "answered 200 OK"),
        ("302 Found", "", "answered 302 Found"),
        ("400 Bad Request", "<html>Bad request</html>", "did not come from the service"),
        ("400 Bad Request", "{\"error\":403,\"message\":\"no\"}", "\"error\":403"),
        ("400 Bad Request", "{\"error\":503,\"message\":\"no\"}", "\"error\":503"),
    ] {
        let proxy = Scripted::start(&[response(status, "", body)]);
        let mut check = plants(&server, &["check-token"]);
        run(check.env("PLANTS_URL", proxy.url)).expect(1, "", expected);
    }
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
    let create = |name: &str| {
        let arguments = ["create-plant", "--id", "1", "--name", name];
        on_a_terminal(|stdout, stderr| {
            let mut command = plants(&server, &arguments);
            command.stdout(stdout).stderr(stderr);
            command
        })
    };
    assert_eq!(create("Fern\u{1b}[2J\u{9b}"), "{\"name\":\"Fern\\u001b[2J\\u009b\"}\r\n");
    let refused = create("Ficus");
    assert!(refused.starts_with("plants: refused with 409: plant 1 "), "{refused:?}");
}

/// Every write to `/dev/full` fails.
#[test]
fn output_that_cannot_be_written_exits_1() {
    let server = Server::start();
    write(&server, "plants.jsonl", "Fern\n".repeat(1000));
    for arguments in [&CREATE[..], &["check-token"], &["import", "plants.jsonl"]] {
        let full = File::options().write(true).open("/dev/full").expect("the device exists");
        let mut command = plants(&server, arguments);
        let process = command.stdout(full).stderr(Stdio::piped()).spawn();
        let output = process.expect("the program starts").wait_with_output();
        let finished = Finished::of(output.expect("the program ends"));
        finished.expect(1, "", "cannot write to standard output: No space left on device");
    }
}

/// Sends a signal to a process. The process must end with the exit code of the signal, instead of
/// being killed by it.
pub fn end_by(signal: Signal, process: Child) -> Finished {
    kill(Pid::from_raw(process.id().cast_signed()), signal).expect("the program runs");
    let finished = Finished::of(process.wait_with_output().expect("the program ends"));
    assert_eq!(finished.exit_code, Some(128 + signal as i32), "{finished:?}");
    finished
}

/// Returns whether a process has a handler for a signal.
pub fn catches(process: &Child, signal: Signal) -> bool {
    let path = format!("/proc/{}/status", process.id());
    let status = std::fs::read_to_string(path).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
    let caught = caught.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    caught.is_some_and(|caught| caught & (1 << (signal as u32 - 1)) != 0)
}

/// As the first process of a container (PID 1), a command obeys only the signals that it handles.
#[test]
fn signal_ends_a_command_that_waits_for_a_response() {
    let server = Server::start();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", silent.local_addr().expect("the listener is bound"));
    for arguments in [&CREATE[..], &["check-token"]] {
        for signal in [Signal::SIGTERM, Signal::SIGINT] {
            let mut command = plants(&server, arguments);
            let command = command.env("PLANTS_URL", &url).stderr(Stdio::piped());
            let process = command.spawn().expect("the program starts");
            let _connection = silent.accept().expect("the program connects");
            server.wait_until("a handler", || catches(&process, signal));
            end_by(signal, process);
        }
    }
}
