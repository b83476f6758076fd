//! `plant-store export`: all plants, one line each, in the order of their ids.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::{Server, binary_in, plant, terminal};
use serde_json::Value;

use crate::operators::create;

/// More plants than fit into a pipe (64 KiB), so that an export cannot end before somebody reads
/// its output.
const PLANTS: i64 = 1000;

fn server_with_many_plants() -> Server {
    let server = Server::start();
    create(&server, 1..PLANTS + 1);
    server
}

/// An export that has written its first line, and is blocked because the pipe is full.
pub struct BlockedExport {
    pub process: Child,
    pub first_line: String,
    /// The other lines.
    rest: BufReader<ChildStdout>,
}

/// Starts an export and reads its first line.
pub fn start_export(server: &Server) -> BlockedExport {
    let mut export = binary_in(server.folder());
    export.arg("export").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = export.spawn().expect("the binary starts");
    let mut rest = BufReader::new(process.stdout.take().expect("standard output is piped"));
    let mut first_line = String::new();
    rest.read_line(&mut first_line).expect("standard output is text");
    BlockedExport { process, first_line, rest }
}

#[test]
fn export_writes_one_canonical_json_line_a_plant() {
    let server = Server::start();
    assert_eq!(server.command(&["export"]), "");
    for body in [
        r#"{"name":"Fern","id":2}"#,
        r#"{"tag":"","x":1,"name":"","id":-1}"#,
        r#"{"tag":"\u0069ndoor","id":10,"name":"\u0000\/\"\u00e9"}"#,
        r#"{"id":-9223372036854775808,"name":"least"}"#,
    ] {
        server.create(body).plant();
    }
    let expected = [
        r#"{"id":-9223372036854775808,"name":"least"}"#,
        r#"{"id":-1,"name":"","tag":""}"#,
        r#"{"id":2,"name":"Fern"}"#,
        r#"{"id":10,"name":"\u0000/\"é","tag":"indoor"}"#,
        "",
    ];
    assert_eq!(server.command(&["export"]), expected.join("\n"));
}

/// The export is blocked on its output while plants are created before and after its position. It
/// contains each plant that existed at its start exactly once.
#[test]
fn export_contains_every_plant_that_existed_at_its_start() {
    let server = server_with_many_plants();
    let BlockedExport { mut process, first_line: mut text, mut rest } = start_export(&server);
    for id in [0, PLANTS + 1] {
        server.create(&plant(id, "later", None)).plant();
    }
    rest.read_to_string(&mut text).expect("standard output is text");
    assert!(process.wait().expect("the export ends").success());
    let id = |line| {
        let plant: Value = serde_json::from_str(line).expect("JSON");
        plant["id"].as_i64().expect("an integer")
    };
    let mut ids: Vec<_> = text.lines().map(id).collect();
    // The export may or may not contain plants that were created later.
    ids.retain(|id| (1..=PLANTS).contains(id));
    assert!(ids.into_iter().eq(1..=PLANTS));
}

#[test]
fn export_into_a_closed_pipe_succeeds() {
    let server = server_with_many_plants();
    let BlockedExport { process, first_line, rest } = start_export(&server);
    assert!(first_line.starts_with(r#"{"id":1,"#), "{first_line}");
    drop(rest);
    let output = process.wait_with_output().expect("the export ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// In a container the command is PID 1, for which the kernel applies no default action of a signal.
#[test]
fn export_as_pid_1_ends_at_sigterm() {
    let unshare = ["--map-root-user", "--pid", "--fork", "--kill-child"];
    let can = Command::new("unshare").args(unshare).arg("true").status();
    if !can.is_ok_and(|status| status.success()) {
        println!("skipped, because this machine does not allow PID namespaces");
        return;
    }
    let server = server_with_many_plants();
    let mut export = Command::new("unshare");
    let mut process = export
        .args(unshare)
        .arg(binary_in(server.folder()).get_program())
        .args(["export", "--store", server.store()])
        .current_dir(server.folder())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdout = BufReader::new(process.stdout.take().expect("standard output is piped"));
    stdout.read_line(&mut String::new()).expect("standard output is text");
    let children = format!("/proc/{0}/task/{0}/children", process.id());
    let first = fs::read_to_string(children).expect("the process is running");
    let first = Pid::from_raw(first.trim().parse().expect("one child"));
    kill(first, Signal::SIGTERM).expect("the process is running");
    // `unshare` ends with the exit code of its child.
    assert_eq!(process.wait().expect("it ends").code(), Some(128 + Signal::SIGTERM as i32));
}

#[test]
fn export_to_a_full_device_exits_1() {
    let server = server_with_many_plants();
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut export = binary_in(server.folder());
    let output = export.arg("export").stdout(full).output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("plant-store: ") && stderr.contains("No space left"), "{stderr}");
}

#[test]
fn export_shows_progress_on_a_terminal() {
    let server = server_with_many_plants();
    let (mut terminal, slave) = terminal();
    let mut export = binary_in(server.folder());
    export.arg("export").stdout(Stdio::null()).stderr(slave);
    export.status().expect("the binary starts");
    // The read ends when no process has the program's side of the terminal open any more.
    drop(export);
    let mut bytes = Vec::new();
    let _ = terminal.read_to_end(&mut bytes);
    let shown = String::from_utf8_lossy(&bytes);
    assert!(shown.contains("1000 of 1000"), "{shown:?}");
}
