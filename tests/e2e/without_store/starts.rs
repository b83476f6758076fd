//! What a start says: which variables it ignores, which limits are in force, what a killed start
//! has left, and that nobody has read its standard output. And `serve --check`, which starts
//! nothing.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::{Launched, Server, binary_in, run, wait_until, without_own_variables};
use serde_json::Value;
use tempfile::TempDir;

/// The first record with that message, when there is one.
pub fn record(log: &Path, message: &str) -> Value {
    let find = || {
        let text = fs::read_to_string(log).unwrap_or_default();
        let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.find(|record| record["msg"] == message)
    };
    wait_until(|| find().is_some(), || format!("no record {message}"));
    find().expect("it is there")
}

pub fn record_of(server: &Server, message: &str) -> Value {
    record(&server.folder().join("log"), message)
}

#[test]
fn start_logs_the_limits_in_force() {
    let starting = Server::starting().with(&["--max-rate", "7", "--body-timeout", "90s"]);
    let server = starting.with_open_files("-Sn 64").start();
    let limits = record_of(&server, "limits");
    assert_eq!((&limits["max_rate"], &limits["body_timeout"]), (&7.into(), &"1m 30s".into()));
    assert_eq!((&limits["max_body"], &limits["max_creates"]), (&65536.into(), &1024.into()));
    assert_eq!(
        (&limits["store_timeout"], &limits["shutdown_timeout"]),
        (&"5s".into(), &"10s".into())
    );
    // The hard limit of whoever runs the tests.
    assert!(limits["open_files"].as_u64() > Some(64), "{limits}");
}

const LEFT: &str =
    "left by a start or a copy that was killed, or a copy runs; if none does, delete it";

/// A start that is killed before the store has its name leaves a file with another one.
#[test]
fn start_names_the_file_that_a_killed_start_has_left() {
    let starting = Server::starting();
    File::create(starting.folder().join(".plant-store-abc")).expect("a file");
    let server = starting.start();
    let warning = record_of(&server, LEFT);
    assert!(warning["file"].as_str().expect("text").ends_with(".plant-store-abc"), "{warning}");
}

/// Nobody would see it, and it would stay in force.
#[test]
fn new_store_has_no_token_if_standard_output_is_closed_or_dev_null() {
    for redirection in [">&-", "> /dev/null"] {
        let folder = TempDir::new().expect("a temporary folder");
        let mut shell = Command::new("sh");
        without_own_variables(&mut shell);
        let serve = format!("exec \"$0\" serve --listen 127.0.0.1:0 {redirection} 2> log");
        shell.args(["-c", &serve]).arg(binary_in(folder.path()).get_program());
        let mut process = shell.current_dir(folder.path()).spawn().expect("a shell");
        let log = folder.path().join("log");
        record(&log, "listening");
        record(&log, "the store has no token: `plant-store token create NAME` makes one");
        let listed = run(folder.path(), &["token", "list", "--json"]).stdout;
        assert_eq!(String::from_utf8(listed).expect("text").trim(), "[]", "{redirection}");
        process.kill().expect("it runs");
        process.wait().expect("it ends");
    }
}

/// Serves in that folder, with a standard output that takes nothing and its log in the file `log`.
fn serve_into_full(folder: &Path) -> Child {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let log = File::create(folder.join("log")).expect("a file");
    binary_in(folder).arg("serve").stdout(full).stderr(log).spawn().expect("the binary starts")
}

#[test]
fn existing_store_is_served_with_a_warning_if_standard_output_is_full() {
    let folder = TempDir::new().expect("a temporary folder");
    let begin = ["serve", "--first-token", "none"];
    drop(Launched::start(binary_in(folder.path()).args(begin)).expect("it serves"));
    let mut process = serve_into_full(folder.path());
    let log = folder.path().join("log");
    assert!(record(&log, "listening")["address"].is_string());
    let warning = record(&log, "the address was not printed");
    assert_eq!(warning["level"], "warning");
    assert!(warning["cause"].as_str().expect("text").contains("No space left"), "{warning}");
    let id = Pid::from_raw(process.id().try_into().expect("a process id"));
    kill(id, Signal::SIGTERM).expect("the process is there");
    assert!(process.wait().expect("it ends").success());
}

#[test]
fn new_store_whose_first_token_is_not_printed_is_status_1_and_the_message_says_so() {
    let folder = TempDir::new().expect("a temporary folder");
    let status = serve_into_full(folder.path()).wait().expect("it ends");
    assert_eq!(status.code(), Some(1));
    let log = fs::read_to_string(folder.path().join("log")).expect("text");
    let last = log.lines().last().expect("a last line");
    for expected in [
        "plant-store: the new store has a token that nobody has seen",
        "`plant-store token revoke first`, then `plant-store token create NAME`",
        "cannot write to standard output: No space left",
    ] {
        assert!(last.contains(expected), "{last}");
    }
    let listed = run(folder.path(), &["token", "list"]).stdout;
    assert!(String::from_utf8(listed).expect("text").contains("first "));
}
