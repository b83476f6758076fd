//! What a start says: which variables it ignores, which limits are in force, what a killed start
//! has left, and that nobody has read its standard output.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command};

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::{Launched, Server, binary_in, run, wait_until, without_own_variables};
use serde_json::Value;
use tempfile::TempDir;

use crate::metrics::get;

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

/// The tokens of the store in that folder, as JSON.
fn tokens(folder: &Path) -> String {
    let listed = run(folder, &["token", "list", "--json"]).stdout;
    String::from_utf8(listed).expect("text").trim().to_owned()
}

/// Nobody has seen its token. The number of files at which a start fails late is found by trying.
#[test]
fn start_that_fails_before_it_listens_leaves_no_token() {
    let mut stores = 0;
    for files in 6.. {
        let folder = TempDir::new().expect("a temporary folder");
        let mut shell = Command::new("sh");
        without_own_variables(&mut shell);
        let serve = format!("ulimit -n {files}; exec \"$0\" serve --listen 127.0.0.1:0 2> log");
        shell.args(["-c", &serve]).arg(binary_in(folder.path()).get_program());
        if Launched::start(shell.current_dir(folder.path())).is_ok() {
            break;
        }
        // None: the store was not begun.
        let tokens = tokens(folder.path());
        let log = fs::read_to_string(folder.path().join("log")).expect("a log");
        assert!(tokens == "[]" || tokens.is_empty(), "{files}: {tokens} {log}");
        stores += usize::from(tokens == "[]");
    }
    assert!(stores > 0, "no start failed after it had made the store");
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
fn first_token_that_is_not_printed_is_never_stored() {
    let folder = TempDir::new().expect("a temporary folder");
    let status = serve_into_full(folder.path()).wait().expect("it ends");
    assert_eq!(status.code(), Some(1));
    let log = fs::read_to_string(folder.path().join("log")).expect("text");
    let last = log.lines().last().expect("a last line");
    for expected in [
        "plant-store: the first token was not printed, so it is not in force",
        "`plant-store token create NAME` makes one",
        "cannot write to standard output: No space left",
    ] {
        assert!(last.contains(expected), "{last}");
    }
    assert_eq!(tokens(folder.path()), "[]");
}

/// A pipe that nobody reads: the print waits for ever, and the signal ends the start all the same.
/// The token was not printed, so it was never in force.
#[test]
fn start_whose_standard_output_is_a_full_pipe_is_ended_by_a_signal() {
    let folder = TempDir::new().expect("a temporary folder");
    let (reader, mut output) = io::pipe().expect("a pipe");
    fcntl(&output, FcntlArg::F_SETPIPE_SZ(4096)).expect("it is empty");
    output.write_all(&[b' '; 4096]).expect("it has room");
    let log = File::create(folder.path().join("log")).expect("a file");
    let mut serve = binary_in(folder.path());
    serve.args(["serve", "--metrics", "127.0.0.1:0"]).stdout(output).stderr(log);
    let mut process = serve.spawn().expect("it starts");
    let address = record(&folder.path().join("log"), "serving metrics")["address"].clone();
    let address = address.as_str().expect("text").parse().expect("an address");
    let waits = || get(address, "/ready").body.starts_with(b"the tokens are not known");
    wait_until(waits, || "the service does not listen".to_owned());
    let id = Pid::from_raw(process.id().try_into().expect("a process id"));
    kill(id, Signal::SIGTERM).expect("the process is there");
    let ended = || process.try_wait().expect("it is ours").is_some();
    wait_until(ended, || "it does not end".to_owned());
    assert_eq!(tokens(folder.path()), "[]");
    drop(reader);
}
