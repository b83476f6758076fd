//! `plants import`: every outcome, and interruptions.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::{Server, amount, plant};
use serde_json::Value;

use super::commands::on_a_terminal;
use super::{Finished, plants, run, write};
use crate::database;

/// Returns this number of plants as JSON lines, with ids from 0.
fn lines(plants: usize) -> String {
    let line = |id| plant(i64::try_from(id).expect("a small number"), "Monstera", Some("tropical"));
    (0..plants).map(|id| line(id) + "\n").collect()
}

/// An import that has ended.
#[derive(Debug)]
pub struct Imported {
    /// The exit code, or none if a signal ended the import.
    pub exit_code: Option<i32>,
    /// How many plants were created or already there, were refused, and were given up.
    pub counts: [u64; 3],
    /// Whether the whole file was read and every record counted.
    pub complete: bool,
    /// The lines on stdout.
    pub rejected: Vec<Rejected>,
    /// The lines on stderr, without the summary.
    pub stderr: String,
}

/// A record that was not created.
#[derive(Debug, PartialEq)]
pub struct Rejected {
    pub line: u64,
    pub error: Option<i64>,
    pub message: String,
    /// The record, if it is a plant.
    pub plant: Option<Value>,
    /// The record, if it is not a plant.
    pub text: Option<String>,
}

/// Runs an import to its end. The import must print a summary.
pub fn import(command: &mut Command) -> Imported {
    imported(run(command))
}

/// Parses the output of an import.
pub fn imported(Finished { exit_code, stdout, stderr }: Finished) -> Imported {
    let (summaries, stderr): (Vec<_>, Vec<_>) =
        stderr.lines().partition(|line| line.starts_with('{'));
    let [summary] = summaries[..] else { panic!("expected one summary: {stderr:?}") };
    let summary: Value = serde_json::from_str(summary).expect("JSON");
    let count = |name: &str| summary[name].as_u64();
    let counts = ["created_or_already_there", "refused", "given_up"];
    Imported {
        exit_code,
        counts: counts.map(|name| count(name).expect("a number")),
        complete: summary["complete"].as_bool().expect("true or false"),
        rejected: stdout.lines().map(rejected).collect(),
        stderr: stderr.join("\n"),
    }
}

fn rejected(line: &str) -> Rejected {
    let mut line: Value = serde_json::from_str(line).expect("JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Rejected {
        line: line["line"].as_u64().expect("a number"),
        error: line["error"].as_i64(),
        message: text(&line["message"]).expect("text"),
        text: text(&line["text"]),
        plant: Some(line["plant"].take()).filter(|plant| !plant.is_null()),
    }
}

impl Imported {
    /// Returns the line and the `error` of each record that was not created.
    pub fn errors(&self) -> Vec<(u64, Option<i64>)> {
        self.rejected.iter().map(|rejected| (rejected.line, rejected.error)).collect()
    }

    /// Returns whether this number of plants was created and nothing else was reported.
    pub fn is_success(&self, created: u64) -> bool {
        let is_silent = self.rejected.is_empty() && self.stderr.is_empty();
        is_silent
            && (self.exit_code, self.counts, self.complete) == (Some(0), [created, 0, 0], true)
    }
}

fn stored(server: &Server) -> usize {
    let count = database::number(server, "SELECT count(*) FROM plants");
    usize::try_from(count).expect("not negative")
}

#[test]
fn import_of_an_export_is_idempotent() {
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
        let imported = import(&mut plants(&to, &["import", "plants.jsonl"]));
        assert!(imported.is_success(3), "{imported:?}");
    }
    assert_eq!(to.command(&["export"]), exported);
}

#[test]
fn rejected_line_does_not_stop_the_import() {
    let server = Server::start();
    let too_long = plant(10, &"x".repeat(64 * 1024), None);
    let text = [
        r#"{"id":1,"name":"Fern"}"#,
        "Fern",
        r#"{"id":3,"name":"Fern""#,
        r#"{"id":4,"nam":"Fern"}"#,
        "",
        r#"{"id":6,"name":"Fern"}  "#,
        r#"{"id":1,"name":"Ficus"}"#,
        r#"{"id":8,"name":"Fern","id":8}"#,
        r#"{"id":9,"name":"Fern"} {}"#,
        &too_long,
        r#"{"id":"11","name":"Fern"}"#,
        r#"{"id":12,"name":"no line break at the end"}"#,
    ];
    write(&server, "plants.jsonl", text.join("\n"));
    let imported = import(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!((imported.exit_code, imported.counts), (Some(1), [3, 8, 0]), "{imported:?}");
    assert!(imported.complete);
    let mut expected = [2, 3, 4, 7, 8, 9, 10, 11].map(|line| (line, Some(400)));
    (expected[3].1, expected[6].1) = (Some(409), Some(413));
    assert_eq!(imported.errors(), expected);
    assert!(imported.rejected[0].message.starts_with("it is not a JSON object; each line"));
    let message = &imported.rejected[1].message;
    assert!(message.contains("a line must contain a whole object"), "{message}");
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 6, 12]);
}

/// Without the limit, an endless line would exhaust the memory. The summary reports that the import
/// is incomplete.
#[test]
fn line_longer_than_1_mib_ends_the_import() {
    let server = Server::start();
    write(&server, "plants.jsonl", format!("{}{}", lines(3), "x".repeat(2 << 20)));
    let Imported { exit_code, counts, complete, stderr, .. } =
        import(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!((exit_code, counts, complete), (Some(1), [3, 0, 0], false), "{stderr}");
    assert!(stderr.contains("the record at line 4 is longer than 1 MiB"), "{stderr}");
}

/// Starts an import and writes this text to its stdin, which stays open.
fn spawn_with_stdin(import: &mut Command, text: &str) -> (Child, ChildStdin) {
    let mut import = import.stdin(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = import.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("the import reads");
    (import, stdin)
}

/// Starts an import of stdin and writes this text to it. Stdin stays open, so the import waits for
/// more.
fn spawn_waiting(server: &Server, text: String) -> (Child, thread::JoinHandle<ChildStdin>) {
    let mut command = plants(server, &["import", "-"]);
    let (import, mut stdin) =
        spawn_with_stdin(command.stdout(Stdio::null()).stderr(Stdio::null()), "");
    let writer = thread::spawn(move || {
        // The write fails if the import is killed before it has read everything.
        let _ = stdin.write_all(text.as_bytes());
        stdin
    });
    (import, writer)
}

fn pid(process: &Child) -> Pid {
    Pid::from_raw(i32::try_from(process.id()).expect("a process id is an i32"))
}

/// At each signal many creates are in flight, and more lines are waiting. Every tenth id has a
/// second line with a different plant, and every run must store the plant of the first line.
#[test]
fn interrupted_import_that_is_run_again_completes_the_store() {
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
        let (mut import, writer) = spawn_waiting(&server, text[..part * (round + 2)].join("\n"));
        let half_way = size * (round + 1) / (signals.len() + 1);
        server.wait_until("half of the plants", || stored(&server) > half_way);
        kill(pid(&import), *signal).expect("the import is running");
        let status = import.wait().expect("the import ends");
        drop(writer.join());
        match signal {
            Signal::SIGINT => assert_eq!(status.code(), Some(130)),
            Signal::SIGTERM => assert_eq!(status.code(), Some(143)),
            _ => assert_eq!(status.signal(), Some(Signal::SIGKILL as i32)),
        }
    }
    write(&server, "plants.jsonl", text.join("\n"));
    let imported = import(&mut plants(&server, &["import", "plants.jsonl"]));
    let [created, refused] = [size, size / 10].map(|count| u64::try_from(count).expect("small"));
    assert_eq!((imported.exit_code, imported.counts), (Some(1), [created, refused, 0]));
    assert!(server.command(&["export"]) == exported, "the store differs from the file");
}

#[test]
fn import_survives_a_restart_of_the_service() {
    let first = lines(1000);
    let second = lines(3000);
    let server = Server::start();
    let listen = server.address.to_string();
    let mut import = plants(&server, &["import", "-"]);
    let import = import.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (import, mut stdin) = spawn_with_stdin(import, &first);
    server.wait_until("half of the plants", || stored(&server) > 500);
    let starting = server.stopped_by(Signal::SIGKILL);
    let rest = thread::spawn(move || stdin.write_all(second.as_bytes()).expect("the import reads"));
    let server = starting.with(&["--listen", &listen]).start();
    rest.join().expect("the writer ends");
    let imported = imported(Finished::of(import.wait_with_output().expect("the import ends")));
    assert_eq!((imported.exit_code, imported.counts), (Some(0), [4000, 0, 0]), "{imported:?}");
    assert_eq!(server.export().len(), 3000);
}

#[test]
fn lasting_fault_of_the_service_ends_the_import() {
    let server = Server::start();
    database::drop_plants_table(&server);
    write(&server, "plants.jsonl", lines(100));
    let arguments = ["import", "plants.jsonl", "--in-flight", "2", "--retries", "1"];
    let imported = import(&mut plants(&server, &arguments));
    assert_eq!(imported.exit_code, Some(1));
    assert!(imported.stderr.contains("the service no longer creates plants"), "{imported:?}");
    let errors = imported.errors();
    // A third create may have started before the second was given up.
    assert!((2..=3).contains(&errors.len()), "{errors:?}");
    assert!(errors.iter().all(|(line, error)| (1..=3).contains(line) && *error == Some(500)));
    assert_eq!(imported.counts, [0, 0, errors.len() as u64]);
}

#[test]
fn import_never_exceeds_its_rate() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(11));
    let started = Instant::now();
    let imported = import(&mut plants(&server, &["import", "plants.jsonl", "--rate", "10"]));
    assert!(imported.is_success(11), "{imported:?}");
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
}

/// Stdin stays open, as if the program before the pipe had more to send later.
#[test]
fn refused_token_ends_the_import_of_a_pipe_at_once() {
    let server = Server::start();
    let mut import = plants(&server, &["import", "-"]);
    let import = import.env("PLANTS_TOKEN", "pst_").stdout(Stdio::null()).stderr(Stdio::piped());
    let (mut import, stdin) = spawn_with_stdin(import, &lines(1));
    let mut status = None;
    server.wait_until("the end of the import", || {
        status = import.try_wait().expect("the import was started");
        status.is_some()
    });
    drop(stdin);
    let stderr = import.stderr.take().map(std::io::read_to_string).expect("a pipe");
    assert!(stderr.expect("text").contains("refused with 401"));
    assert_eq!(status.and_then(|status| status.code()), Some(1));
}

#[test]
fn import_shows_a_bar_and_retries_on_a_terminal() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(2000));
    let on_a_terminal = |arguments: &[&str]| {
        on_a_terminal(|stdout, stderr| {
            let mut import: Command = plants(&server, arguments);
            import.stdout(stdout).stderr(stderr);
            import
        })
    };
    let shown = on_a_terminal(&["import", "plants.jsonl"]);
    assert!(shown.contains(" KiB/") && shown.contains(" left"), "{shown:?}");
    assert!(shown.contains("complete true, created_or_already_there 2000, "), "{shown:?}");
    let nobody = ["import", "plants.jsonl", "--url", "http://127.0.0.1:1", "--retries", "3"];
    let shown = on_a_terminal(&nobody);
    assert!(shown.contains("retrying in ") && shown.contains("127.0.0.1:1"), "{shown:?}");
    assert!(shown.contains("Connection refused"), "{shown:?}");
}
