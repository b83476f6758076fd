//! Signals. As the first process of a container (PID 1), a command only obeys those that it waits
//! for: then it has an exit status of its own, and is not killed.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::Server;
use rustix::io::ioctl_fionread;

use super::plants;

/// Sends a signal, after which the process ends with this status. Returns its stderr.
fn end_by(process: Child, signal: Signal, expected: i32) -> String {
    let id = Pid::from_raw(i32::try_from(process.id()).expect("a process id is an i32"));
    kill(id, signal).expect("it runs");
    let output = process.wait_with_output().expect("it ends");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.signal(), None, "{said}");
    assert_eq!(output.status.code(), Some(expected), "{said}");
    said
}

#[test]
fn command_that_waits_for_an_answer_ends_at_a_signal() {
    let server = Server::start();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", silent.local_addr().expect("it is bound"));
    for words in [&["create-plant", "--id", "1", "--name", "Fern"][..], &["check-token"]] {
        for (signal, status) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
            let mut command = plants(&server, words);
            let command = command.env("PLANTS_URL", &url).stderr(Stdio::piped());
            let process = command.spawn().expect("a start");
            let _connection = silent.accept().expect("it connects");
            server.wait_until("a handler", || catches(&process, signal));
            end_by(process, signal, status);
        }
    }
}

#[test]
fn command_that_waits_for_stdin_ends_at_a_signal() {
    let server = Server::start();
    for words in [&["create-plant", "--json-body", "-"][..], &["import", "-"]] {
        let mut command = plants(&server, words);
        let process = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut process = process.expect("a start");
        let _stdin = process.stdin.take();
        server.wait_until("a handler", || catches(&process, Signal::SIGTERM));
        end_by(process, Signal::SIGTERM, 143);
    }
}

/// Whether a process has a handler of a signal.
fn catches(process: &Child, signal: Signal) -> bool {
    let path = format!("/proc/{}/status", process.id());
    let status = fs::read_to_string(path).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
    let caught = caught.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    caught.is_some_and(|caught| caught & (1 << (signal as u32 - 1)) != 0)
}

/// The import waits for its stdout when a pipe is full.
#[test]
fn import_whose_stdout_nobody_reads_ends_at_a_signal() {
    let server = Server::start();
    let mut command = plants(&server, &["import", "-"]);
    let import = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut import = import.spawn().expect("a start");
    let mut stdin = import.stdin.take().expect("a pipe");
    let stdout = import.stdout.take().expect("a pipe");
    let feeder = thread::spawn(move || while stdin.write_all(b"Fern\n").is_ok() {});
    server.wait_until("a full pipe", || {
        ioctl_fionread(&stdout).expect("a pipe") > 60_000 && catches(&import, Signal::SIGTERM)
    });
    let said = end_by(import, Signal::SIGTERM, 143);
    assert!(said.contains("interrupted; the rest was not tried"), "{said}");
    feeder.join().expect("it ends");
}
