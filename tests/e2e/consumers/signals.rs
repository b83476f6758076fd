//! Signals that end a command. As the first process of a container (PID 1), a command obeys only
//! the signals that it handles. A handled signal ends the command with an exit code instead of
//! killing it.

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

/// Sends a signal, after which the process must end with this exit code. Returns its stderr.
fn end_by(process: Child, signal: Signal, expected: i32) -> String {
    let id = Pid::from_raw(i32::try_from(process.id()).expect("a process id is an i32"));
    kill(id, signal).expect("the program runs");
    let output = process.wait_with_output().expect("the program ends");
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.signal(), None, "{stderr}");
    assert_eq!(output.status.code(), Some(expected), "{stderr}");
    stderr
}

#[test]
fn signal_ends_a_command_that_waits_for_a_response() {
    let server = Server::start();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", silent.local_addr().expect("the listener is bound"));
    for arguments in [&["create-plant", "--id", "1", "--name", "Fern"][..], &["check-token"]] {
        for (signal, exit_code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
            let mut command = plants(&server, arguments);
            let command = command.env("PLANTS_URL", &url).stderr(Stdio::piped());
            let process = command.spawn().expect("the program starts");
            let _connection = silent.accept().expect("the program connects");
            server.wait_until("a handler", || catches(&process, signal));
            end_by(process, signal, exit_code);
        }
    }
}

#[test]
fn signal_ends_a_command_that_waits_for_stdin() {
    let server = Server::start();
    for arguments in [&["create-plant", "--json-body", "-"][..], &["import", "-"]] {
        let mut command = plants(&server, arguments);
        let process = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut process = process.expect("the program starts");
        let _stdin = process.stdin.take();
        server.wait_until("a handler", || catches(&process, Signal::SIGTERM));
        end_by(process, Signal::SIGTERM, 143);
    }
}

/// Returns whether a process has a handler for a signal.
fn catches(process: &Child, signal: Signal) -> bool {
    let path = format!("/proc/{}/status", process.id());
    let status = fs::read_to_string(path).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
    let caught = caught.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    caught.is_some_and(|caught| caught & (1 << (signal as u32 - 1)) != 0)
}

/// The import blocks on stdout once the pipe is full.
#[test]
fn signal_ends_an_import_whose_stdout_nobody_reads() {
    let server = Server::start();
    let mut command = plants(&server, &["import", "-"]);
    let import = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut import = import.spawn().expect("the program starts");
    let mut stdin = import.stdin.take().expect("a pipe");
    let stdout = import.stdout.take().expect("a pipe");
    let feeder = thread::spawn(move || while stdin.write_all(b"Fern\n").is_ok() {});
    server.wait_until("a full pipe", || {
        ioctl_fionread(&stdout).expect("a pipe") > 60_000 && catches(&import, Signal::SIGTERM)
    });
    let stderr = end_by(import, Signal::SIGTERM, 143);
    assert!(stderr.contains("interrupted; the rest was not tried"), "{stderr}");
    feeder.join().expect("the feeder ends");
}
