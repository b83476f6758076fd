//! Runs the real binary until it exits.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::folder::binary_in;
use crate::wait_until;

/// Runs the binary with these arguments in a folder, on the store of that folder, and waits until
/// it exits.
pub fn run<I: AsRef<OsStr>>(folder: &Path, arguments: &[I]) -> Output {
    binary_in(folder).args(arguments).stdin(Stdio::null()).output().expect("the binary starts")
}

/// Runs a command that must fail. Returns its exit code, and the single line that it writes to
/// stderr.
pub fn failure(command: &mut Command) -> (Option<i32>, String) {
    let (status, stderr) = refusal(command);
    assert_eq!(stderr.lines().count(), 1, "stderr must be one line: {stderr}");
    assert!(stderr.starts_with("plant-store: "), "{stderr}");
    (status, stderr)
}

/// Runs a command that must print nothing to stdout. Returns its exit code and its stderr. If the
/// command serves instead, it is killed.
pub fn refusal(command: &mut Command) -> (Option<i32>, String) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("the binary starts");
    let mut printed = String::new();
    let mut stdout = BufReader::new(process.stdout.take().expect("standard output is piped"));
    stdout.read_line(&mut printed).expect("standard output is text");
    if !printed.is_empty() {
        let _ = process.kill();
    }
    let output = process.wait_with_output().expect("the process can be waited for");
    let stderr = String::from_utf8(output.stderr).expect("standard error is text");
    assert_eq!(printed, "", "stdout must be empty; stderr: {stderr}");
    (output.status.code(), stderr)
}

/// Starts the binary, sends it a signal after an event, and waits until it exits. Returns its
/// stderr and its exit status.
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
