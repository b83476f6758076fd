//! The real binary, run to its end.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::folder::binary_in;
use crate::wait_until;

/// Runs the binary with these arguments in that folder, on its store, and waits for its end.
pub fn run<I: AsRef<OsStr>>(folder: &Path, arguments: &[I]) -> Output {
    binary_in(folder).args(arguments).stdin(Stdio::null()).output().expect("the binary starts")
}

/// Runs the binary with arguments that it must refuse. Returns its exit status, and the one line
/// that it writes to standard error. If it serves instead, it is killed.
pub fn failure(command: &mut Command) -> (Option<i32>, String) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("the binary starts");
    let mut printed = String::new();
    let mut stdout = BufReader::new(process.stdout.take().expect("standard output is piped"));
    stdout.read_line(&mut printed).expect("standard output is text");
    if !printed.is_empty() {
        let _ = process.kill();
    }
    let output = process.wait_with_output().expect("the process can be waited for");
    let said = String::from_utf8(output.stderr).expect("standard error is text");
    assert_eq!(printed, "", "nothing on standard output; on standard error: {said}");
    assert_eq!(said.lines().count(), 1, "one line: {said}");
    assert!(said.starts_with("plant-store: "), "{said}");
    (output.status.code(), said)
}

/// Starts the binary, and sends it a signal after an event. Waits for its end, which must come by
/// that signal. Returns what it writes to standard error, and how it ended.
pub fn signalled(
    command: &mut Command,
    event: impl FnOnce(),
    signal: Signal,
) -> (String, ExitStatus) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("the binary starts");
    event();
    let id = Pid::from_raw(i32::try_from(process.id()).expect("a process id is an i32"));
    kill(id, signal).expect("the process is there");
    let mut has_ended = || process.try_wait().expect("the process can be waited for").is_some();
    wait_until(&mut has_ended, || format!("{signal} does not end the process"));
    let output = process.wait_with_output().expect("the process can be waited for");
    (String::from_utf8(output.stderr).expect("standard error is text"), output.status)
}
