//! The real binary, run to its end.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{binary_in, wait_until};

/// The binary `plant-store`, built in this profile on the first call. Tests start it with
/// [`binary_in`], which sets its folder and its address.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        plant_store_launcher::build("plant-store", !cfg!(debug_assertions))
            .expect("the binary builds")
    })
}

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

/// Compiles `e2e/SOURCE.c`, a library that LD_PRELOAD puts between a process and the kernel.
pub fn library(source: &str, folder: &Path) -> PathBuf {
    let library = folder.join(format!("{}.so", std::process::id()));
    let source = format!("{}/e2e/{source}.c", env!("CARGO_MANIFEST_DIR"));
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", &source, "-o"])
        .arg(&library)
        .status()
        .expect("there is a C compiler, as the build needs one");
    assert!(status.success(), "{source} compiles");
    library
}
