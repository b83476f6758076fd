//! `plants import`: every outcome, and interruptions.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::process::memory_mib;
use plant_store_tests::{Server, amount, plant};
use serde_json::Value;

use super::commands::on_a_terminal;
use super::{Ran, plants, run, write};
use crate::database;

/// This number of lines of plants, with ids from 0 on.
fn lines(plants: usize) -> String {
    let line = |id| plant(i64::try_from(id).expect("a small number"), "Monstera", Some("tropical"));
    (0..plants).map(|id| line(id) + "\n").collect()
}

/// The numbers of plants that were created or were there, refused, given up.
pub fn counts(printed: &str) -> [u64; 3] {
    let counts: Value = serde_json::from_str(printed).expect("JSON");
    ["created_or_already_there", "refused", "given_up"]
        .map(|count| counts[count].as_u64().expect("a number"))
}

/// Why a record was not created.
#[derive(Debug, PartialEq)]
pub struct Reason {
    pub line: u64,
    pub error: Option<i64>,
    pub message: String,
}

/// Why each record was not created, in the order of the file.
pub fn reasons(server: &Server, name: &str) -> Vec<Reason> {
    let name = format!("{name}.reasons.jsonl");
    let text = fs::read_to_string(server.folder().join(name)).expect("it is there");
    let reasons = text.lines().map(|line| {
        let reason: Value = serde_json::from_str(line).expect("JSON");
        Reason {
            line: reason["line"].as_u64().expect("a number"),
            error: reason["error"].as_i64(),
            message: reason["message"].as_str().expect("text").to_owned(),
        }
    });
    reasons.collect()
}

/// Line and `error` of each record that was not created.
pub fn rejected(server: &Server, name: &str) -> Vec<(u64, Option<i64>)> {
    reasons(server, name).into_iter().map(|reason| (reason.line, reason.error)).collect()
}

fn stored(server: &Server) -> usize {
    let count = database::number(server, "SELECT count(*) FROM plants");
    usize::try_from(count).expect("not negative")
}

#[test]
fn import_reads_what_export_writes_and_may_be_run_again() {
    let from = Server::start();
    for body in [
        r#"{"id":-9223372036854775808,"name":""}"#,
        r#"{"id":2,"name":"\u0000\"\u00e9","tag":""}"#,
        r#"{"id":9223372036854775807,"name":"Fern","tag":"indoor"}"#,
    ] {
        from.create(body).plant();
    }
    let exported = from.command(&["export"]);
    let to = Server::start();
    write(&to, "plants.jsonl", &exported);
    for _ in 0..2 {
        let Ran { status, printed, said } = run(&mut plants(&to, &["import", "plants.jsonl"]));
        assert_eq!((status, counts(&printed), said.as_str()), (Some(0), [3, 0, 0], ""));
    }
    assert_eq!(to.command(&["export"]), exported);
    assert!(!to.folder().join("plants.jsonl.rejected.jsonl").exists());
}

#[test]
fn line_that_is_no_plant_is_refused_by_the_service_and_does_not_stop_the_rest() {
    let server = Server::start();
    let too_long = plant(10, &"x".repeat(64 * 1024), None);
    let text = [
        r#"{"id":1,"name":"Fern"}"#,
        "Fern",
        r#"[3,"Fern"]"#,
        r#"{"id":4,"name":"Fern","tag":null}"#,
        "",
        r#"{"id":6,"name":"Fern"}  "#,
        r#"{"id":1,"name":"Ficus"}"#,
        r#"{"id":8,"name":"Fern","x":1,"x":2}"#,
        "\u{fffd}",
        &too_long,
        r#"{"id":11,"name":"Fern","x":-0}"#,
        r#"{"id":12,"name":"no line break at the end"}"#,
    ];
    let text = text.join("\n").replace('\u{fffd}', "\u{1}");
    write(&server, "plants.jsonl", text);
    let import = ["import", "plants.jsonl", "--ignore-unknown"];
    let Ran { status, printed, said } = run(&mut plants(&server, &import));
    assert_eq!((status, counts(&printed)), (Some(1), [5, 6, 0]), "{said}");
    assert!(said.contains("plants.jsonl.rejected.jsonl"), "{said}");
    let mut expected = [2, 3, 4, 7, 9, 10].map(|line| (line, Some(400)));
    (expected[3].1, expected[5].1) = (Some(409), Some(413));
    assert_eq!(rejected(&server, "plants.jsonl.rejected"), expected);
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 6, 8, 11, 12]);

    // With its line break, the longest body is longer than a body may be.
    let longest = plant(13, &"x".repeat(64 * 1024 - plant(13, "", None).len()), None);
    write(&server, "longest.jsonl", format!("{{\"id\":1,\"name\":\"Fern\"}}\n{longest}\n"));
    assert_eq!(run(&mut plants(&server, &["import", "longest.jsonl"])).status, Some(0));
}

/// The process, and its standard input after this text.
fn fed(import: &mut Command, text: &str) -> (Child, ChildStdin) {
    let mut import = import.stdin(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = import.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("it reads");
    (import, stdin)
}

/// An import of standard input that gets this text. Then it gets no more bytes and no end of input.
fn waiting(server: &Server, text: String) -> (Child, thread::JoinHandle<ChildStdin>) {
    let mut command = plants(server, &["import", "-", "--rejected", "-"]);
    let (import, mut stdin) = fed(command.stdout(Stdio::null()).stderr(Stdio::null()), "");
    let writer = thread::spawn(move || {
        // The import may be killed before it has read everything.
        let _ = stdin.write_all(text.as_bytes());
        stdin
    });
    (import, writer)
}

fn pid(process: &Child) -> Pid {
    Pid::from_raw(i32::try_from(process.id()).expect("a process id is an i32"))
}

/// At each signal many creates are under way, and more lines are waiting. Every tenth id has a
/// second line with another plant: the plant of the first line is stored, in each run.
#[test]
fn import_killed_or_interrupted_several_times_and_run_again_ends_with_the_same_store() {
    let size = amount(2000, 100_000);
    let exported = lines(size);
    let text: Vec<_> = exported
        .lines()
        .enumerate()
        .flat_map(|(number, line)| {
            let second = line.replace("Monstera", "another");
            [line.to_owned()].into_iter().chain((number % 10 == 0).then_some(second))
        })
        .collect();
    let server = Server::start();
    let signals = [Signal::SIGKILL, Signal::SIGINT, Signal::SIGTERM].repeat(amount(1, 7));
    for (round, signal) in signals.iter().enumerate() {
        let part = text.len() / (signals.len() + 1);
        let (mut import, writer) = waiting(&server, text[..part * (round + 2)].join("\n"));
        let half_way = size * (round + 1) / (signals.len() + 1);
        server.wait_until("half of the plants", || stored(&server) > half_way);
        kill(pid(&import), *signal).expect("the import goes on");
        let status = import.wait().expect("the import ends");
        drop(writer.join());
        match signal {
            Signal::SIGINT => assert_eq!(status.code(), Some(130)),
            Signal::SIGTERM => assert_eq!(status.code(), Some(143)),
            _ => assert_eq!(status.signal(), Some(Signal::SIGKILL as i32)),
        }
    }
    write(&server, "plants.jsonl", text.join("\n"));
    let Ran { status, printed, .. } = run(&mut plants(&server, &["import", "plants.jsonl"]));
    let [created, refused] = [size, size / 10].map(|count| u64::try_from(count).expect("small"));
    assert_eq!((status, counts(&printed)), (Some(1), [created, refused, 0]));
    assert!(server.command(&["export"]) == exported, "the store has other plants");
}

#[test]
fn service_killed_and_started_again_half_way_costs_the_import_nothing() {
    let first = lines(1000);
    let second = lines(3000);
    let server = Server::start();
    let listen = server.address.to_string();
    let mut import = plants(&server, &["import", "-"]);
    let import = import.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (import, mut stdin) = fed(import, &first);
    server.wait_until("half of the plants", || stored(&server) > 500);
    let starting = server.stopped_by(Signal::SIGKILL);
    let rest = thread::spawn(move || stdin.write_all(second.as_bytes()).expect("it reads"));
    let server = starting.with(&["--listen", &listen]).start();
    rest.join().expect("it was read");
    let output = import.wait_with_output().expect("the import ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(counts(&String::from_utf8_lossy(&output.stdout)), [4000, 0, 0]);
    assert_eq!(server.export().len(), 3000);
}

#[test]
fn fault_of_the_service_that_lasts_gives_plants_up_and_ends_the_import() {
    let server = Server::start();
    database::drop_plants_table(&server);
    write(&server, "plants.jsonl", lines(100));
    let arguments = ["import", "plants.jsonl", "--in-flight", "2", "--retries", "1"];
    let Ran { status, printed, said } = run(&mut plants(&server, &arguments));
    assert_eq!(status, Some(1));
    assert!(said.contains("creates nothing any longer"), "{said}");
    let rejected = rejected(&server, "plants.jsonl.rejected");
    // A third one may have begun before the second one was given up.
    assert!((2..=3).contains(&rejected.len()), "{rejected:?}");
    assert!(rejected.iter().all(|(line, error)| (1..=3).contains(line) && *error == Some(500)));
    assert_eq!(counts(&printed), [0, 0, rejected.len() as u64]);
}

/// A 429 is no try: with no repeats at all, each plant is created.
#[test]
fn import_past_the_rate_of_its_token_sends_more_slowly_and_gives_no_plant_up() {
    let server = Server::starting().with(&["--max-rate", "2"]).start();
    write(&server, "plants.jsonl", lines(5));
    let import = ["import", "plants.jsonl", "--retries", "0"];
    let Ran { status, printed, said } = run(&mut plants(&server, &import));
    assert_eq!((status, counts(&printed)), (Some(0), [5, 0, 0]), "{said}");
    let expected =
        "plants: the token may send no more creates per second (429): sending more slowly";
    assert_eq!(said.trim_end(), expected);
}

/// Standard input stays open, as that of a program that has nothing more to send yet.
#[test]
fn refused_token_ends_the_import_of_a_pipe_at_once() {
    let server = Server::start();
    let mut import = plants(&server, &["import", "-"]);
    let import = import.env("PLANTS_TOKEN", "pst_").stdout(Stdio::null()).stderr(Stdio::piped());
    let (mut import, stdin) = fed(import, &lines(1));
    let mut status = None;
    server.wait_until("the end of the import", || {
        status = import.try_wait().expect("it was started");
        status.is_some()
    });
    drop(stdin);
    let said = import.stderr.take().map(std::io::read_to_string).expect("a pipe");
    assert!(said.expect("text").contains("refused with 401"));
    assert_eq!(status.and_then(|status| status.code()), Some(1));
}

#[test]
fn wait_for_a_service_that_is_not_there_is_said() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(1));
    let mut import = plants(&server, &["import", "plants.jsonl", "--url", "http://127.0.0.1:1"]);
    let mut import = import.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a start");
    let mut said = String::new();
    let stderr = import.stderr.take().expect("a pipe");
    BufReader::new(stderr).read_line(&mut said).expect("text");
    import.kill().expect("it goes on");
    import.wait().expect("it ends");
    let expected = "plants: waiting for http://127.0.0.1:1: Connection refused";
    assert!(said.starts_with(expected) && said.ends_with(" of 11\n"), "{said}");
}

/// A line of 200 MB, and more lines than the import may hold in memory.
#[test]
fn memory_of_an_import_is_bounded() {
    let server = Server::start();
    let text = format!("{}\n{}", "x".repeat(200_000_000), lines(1000));
    let (mut import, writer) = waiting(&server, text);
    server.wait_until("the plants", || stored(&server) == 1000);
    let peak = memory_mib(pid(&import), "VmHWM").expect("the import goes on");
    drop(writer.join());
    assert!(import.wait().expect("the import ends").code() == Some(1));
    assert!(peak < 64.0, "{peak} MiB");
}

#[test]
fn import_shows_a_bar_with_rate_and_time_left_on_a_terminal() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(2000));
    let import = |arguments: &[&str]| {
        on_a_terminal(|stdout, stderr| {
            let mut import: Command = plants(&server, arguments);
            import.stdout(stdout).stderr(stderr);
            import
        })
    };
    let shown = import(&["import", "plants.jsonl"]);
    assert!(shown.contains("/~2,000 plants, ") && shown.contains("/s, "), "{shown:?}");
    assert!(shown.contains(", ~") && shown.contains("s left"), "{shown:?}");
    let summary = "created_or_already_there 2000, given_up 0, refused 0";
    assert!(shown.contains(summary), "{shown:?}");
    // How many plants a packed file has is not known.
    let gzip = Command::new("gzip").arg("plants.jsonl").current_dir(server.folder()).status();
    assert!(gzip.is_ok_and(|status| status.success()));
    let shown = import(&["import", "plants.jsonl.gz"]);
    assert!(shown.contains(" plants, ") && !shown.contains("/~"), "{shown:?}");
}
