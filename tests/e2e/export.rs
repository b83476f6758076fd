//! `plant-store export`: all plants, one line each, in the order of their ids. And the digest of
//! the plants, which compares a copy with its original.

use std::io::{BufRead, BufReader};
use std::process::ChildStdout;

use plant_store_tests::prelude::*;
use plant_store_tests::process::Process;

use crate::database::create;

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
    pub process: Process,
    pub first_line: String,
    /// The other lines.
    rest: BufReader<ChildStdout>,
}

/// Starts an export and reads its first line.
pub fn start_export(server: &Server) -> BlockedExport {
    let mut process = Process::piped(&mut binary_in(server.folder(), "export"));
    let mut rest = BufReader::new(process.stdout.take().expect("standard output is piped"));
    let mut first_line = String::new();
    rest.read_line(&mut first_line).expect("standard output is text");
    BlockedExport { process, first_line, rest }
}

#[test]
fn export_writes_one_canonical_json_line_a_plant() {
    let server = Server::start();
    assert_eq!(server.run("export").succeeded(), "");
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
    assert_eq!(server.run("export").succeeded(), expected.join("\n"));
}

#[test]
fn export_into_a_closed_pipe_succeeds() {
    let server = server_with_many_plants();
    let BlockedExport { process, first_line, rest } = start_export(&server);
    assert!(first_line.starts_with(r#"{"id":1,"#), "{first_line}");
    drop(rest);
    process.end().expect(0, "", "");
}

#[test]
fn export_to_a_full_device_fails() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let export = binary_in(server.folder(), "export");
    run(&mut in_shell("exec \"$0\" \"$@\" > /dev/full", &export)).failed(1, "No space left");
}

/// `copy` and `check` print the same digest until a plant is changed in the copy.
#[test]
fn digest_detects_a_changed_plant_in_a_copy() {
    let server = Server::start();
    create(&server, 0..100);
    let digest = |words: &str| {
        let printed = server.run(words).succeeded();
        let (_, digest) = printed.trim_end().rsplit_once("digest: ").expect("a digest at the end");
        assert_eq!(digest.len(), 64, "{printed}");
        digest.to_owned()
    };
    let copied =
        digest(&format!("copy --from {} --to sqlite:copy.db --tokens none", server.store()));
    assert_eq!([digest("check"), digest("check --store sqlite:copy.db")], [&*copied; 2]);
    let copy = rusqlite::Connection::open(server.folder().join("copy.db")).expect("the copy opens");
    copy.execute_batch(r#"UPDATE plants SET json = '{"name":"X"}' WHERE id = 77"#)
        .expect("a plant");
    assert_ne!(digest("check --store sqlite:copy.db"), copied);
}
