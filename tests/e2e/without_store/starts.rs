//! What the server logs and prints when it starts, and starts that fail.

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

/// Waits for the first record with this message, and returns it.
pub fn record(log: &Path, message: &str) -> Value {
    let find = || {
        let text = fs::read_to_string(log).unwrap_or_default();
        let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.find(|record| record["msg"] == message)
    };
    wait_until(|| find().is_some(), || format!("no record {message}"));
    find().expect("the record exists")
}

pub fn record_of(server: &Server, message: &str) -> Value {
    record(&server.folder().join("log"), message)
}

#[test]
fn start_logs_the_limits_in_force() {
    let starting = Server::starting().with(&["--body-timeout", "90s"]);
    let server = starting.with_open_files("-Sn 64").start();
    let limits = record_of(&server, "limits");
    assert_eq!(limits["body_timeout"], "1m 30s");
    assert_eq!((&limits["max_body"], &limits["max_creates"]), (&65536.into(), &1024.into()));
    assert_eq!(
        (&limits["store_timeout"], &limits["shutdown_timeout"]),
        (&"5s".into(), &"10s".into())
    );
    // The hard limit depends on the user who runs the tests.
    assert!(limits["open_files"].as_u64() > Some(64), "{limits}");
}

/// Returns the tokens of the store in this folder, as JSON.
fn tokens(folder: &Path) -> String {
    let listed = run(folder, &["token", "list", "--json"]).stdout;
    String::from_utf8(listed).expect("text").trim().to_owned()
}

/// Nobody would have seen the token. The test tries different limits on open files to make starts
/// fail at different points.
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
        // The output is empty if the store was not created.
        let tokens = tokens(folder.path());
        let log = fs::read_to_string(folder.path().join("log")).expect("a log");
        assert!(tokens == "[]" || tokens.is_empty(), "{files}: {tokens} {log}");
        stores += usize::from(tokens == "[]");
    }
    assert!(stores > 0, "no start failed after it had created the store");
}

/// Starts a server whose stdout is a full device and whose log is the file `log` in the folder.
fn serve_with_full_stdout(folder: &Path) -> Child {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let log = File::create(folder.join("log")).expect("a file");
    binary_in(folder).arg("serve").stdout(full).stderr(log).spawn().expect("the binary starts")
}

#[test]
fn full_stdout_is_only_a_warning_for_an_existing_store() {
    let folder = TempDir::new().expect("a temporary folder");
    let serve = ["serve", "--first-token", "none"];
    drop(Launched::start(binary_in(folder.path()).args(serve)).expect("it serves"));
    let mut process = serve_with_full_stdout(folder.path());
    let log = folder.path().join("log");
    assert!(record(&log, "listening")["address"].is_string());
    let warning = record(&log, "the address could not be printed");
    assert_eq!(warning["level"], "warning");
    assert!(warning["cause"].as_str().expect("text").contains("No space left"), "{warning}");
    let id = Pid::from_raw(process.id().try_into().expect("a process id"));
    kill(id, Signal::SIGTERM).expect("the process is there");
    assert!(process.wait().expect("it exits").success());
}

#[test]
fn first_token_that_is_not_printed_is_never_stored() {
    let folder = TempDir::new().expect("a temporary folder");
    let status = serve_with_full_stdout(folder.path()).wait().expect("it exits");
    assert_eq!(status.code(), Some(1));
    let log = fs::read_to_string(folder.path().join("log")).expect("text");
    let last = log.lines().last().expect("a last line");
    for expected in [
        "plant-store: the first token could not be printed, so it was not stored",
        "create a token with `plant-store token create NAME`",
        "cannot write to standard output: No space left",
    ] {
        assert!(last.contains(expected), "{last}");
    }
    assert_eq!(tokens(folder.path()), "[]");
}

/// Printing to a pipe that nobody reads blocks forever, but a signal still stops the server. The
/// token was not printed, so it is never stored.
#[test]
fn signal_stops_a_start_that_blocks_on_stdout() {
    let folder = TempDir::new().expect("a temporary folder");
    let (reader, mut output) = io::pipe().expect("a pipe");
    fcntl(&output, FcntlArg::F_SETPIPE_SZ(4096)).expect("the pipe is empty");
    output.write_all(&[b' '; 4096]).expect("the pipe has room");
    let log = File::create(folder.path().join("log")).expect("a file");
    let mut serve = binary_in(folder.path());
    serve.args(["serve", "--metrics", "127.0.0.1:0"]).stdout(output).stderr(log);
    let mut process = serve.spawn().expect("it starts");
    let address = record(&folder.path().join("log"), "serving metrics")["address"].clone();
    let address = address.as_str().expect("text").parse().expect("an address");
    let is_listening = || get(address, "/ready").body.starts_with(b"the tokens are unavailable");
    wait_until(is_listening, || "the server does not listen".to_owned());
    let id = Pid::from_raw(process.id().try_into().expect("a process id"));
    kill(id, Signal::SIGTERM).expect("the process is there");
    let has_exited = || process.try_wait().expect("the process is a child").is_some();
    wait_until(has_exited, || "the process does not exit".to_owned());
    assert_eq!(tokens(folder.path()), "[]");
    drop(reader);
}
