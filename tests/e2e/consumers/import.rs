//! `plants import`: every outcome, and interruptions.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::{Server, amount, plant};
use rustix::io::ioctl_fionread;

use super::commands::{catches, end_by, on_a_terminal};
use super::{Finished, Scripted, plants, program, response, run, write};
use crate::database;

/// Returns this number of plants as JSON lines, with ids from 0.
fn lines(plants: usize) -> String {
    let line = |id| plant(i64::try_from(id).expect("a small number"), "Monstera", Some("tropical"));
    (0..plants).map(|id| line(id) + "\n").collect()
}

/// Returns the numbers in the summary: created, rejected, unanswered.
fn counts(finished: &Finished) -> [usize; 3] {
    let summary = finished.stderr.lines().last().expect("a summary");
    let words = summary.split(';').next().expect("a clause").split(' ');
    let numbers: Vec<_> = words.filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("there is no summary: {finished:?}"))
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
        let imported = run(&mut plants(&to, &["import", "plants.jsonl"]));
        imported.expect(0, "", "plants: 3 created or already there, 0 rejected, 0 unanswered\n");
        assert_eq!(imported.stderr.lines().count(), 1, "{imported:?}");
    }
    assert_eq!(to.command(&["export"]), exported);
}

/// The lines on stdout are unchanged and in order, so they can be imported again.
#[test]
fn rejected_lines_are_stdout_and_reasons_are_stderr() {
    let server = Server::start();
    let too_large = plant(10, &"x".repeat(64 * 1024), None) + "\r\n";
    let rejected = [
        "Fern\u{9b}2J\n",
        "  {\"id\":4,\"nam\":\"Fern\"} \r\n",
        "{\"id\":1,\"name\":\"Ficus\"}\n",
        "{\"id\":8,\"name\":\"Fern\",\"tags\":\"indoor\"}\n",
        &too_large,
        "{\"id\":\"11\",\"name\":\"Fern\"}\n",
    ];
    let [not_json, no_name, taken, unknown, large, text] = rejected;
    let fern = |id| plant(id, "Fern", None) + "\n";
    let head = [&fern(1), not_json, "\r\n", "  \n", no_name, &fern(6)].concat();
    let tail = [taken, unknown, large, &fern(12), text.trim_end()].concat();
    write(&server, "plants.jsonl", head + &tail);
    for (file, numbers, created) in
        [("plants.jsonl", [2, 5, 7, 8, 9, 11], 3), ("rejected", [1, 2, 3, 4, 5, 6], 0)]
    {
        let imported = run(&mut plants(&server, &["import", file]));
        imported.expect(1, &rejected.concat(), "refused with 409: plant 1 already exists");
        assert_eq!(counts(&imported), [created, 6, 0], "{imported:?}");
        let reasons = [
            "it is not a JSON object",
            "missing field `name` at column 23",
            "refused with 409: plant 1 already",
            "the contract has no member `tags`",
            "refused with 413: ",
            "invalid type: string \"11\"",
        ];
        for (line, (number, reason)) in imported.stderr.lines().zip(numbers.iter().zip(reasons)) {
            assert!(line.starts_with(&format!("{file}:{number}: {reason}")), "{line}");
        }
        write(&server, "rejected", imported.stdout);
    }
    let ignoring = run(&mut plants(&server, &["import", "rejected", "--ignore-unknown"]));
    assert_eq!(counts(&ignoring), [1, 5, 0], "{ignoring:?}");
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 6, 8, 12]);
}

/// Without the limit, an endless line would exhaust the memory.
#[test]
fn line_longer_than_1_mib_is_named_and_not_repeated() {
    let server = Server::start();
    let endless = "x".repeat((1 << 20) + 1);
    write(&server, "plants.jsonl", format!("{}{endless}\nFern\n{}", lines(3), lines(4)));
    let imported = run(&mut plants(&server, &["import", "plants.jsonl"]));
    imported.expect(1, "Fern\n", "plants.jsonl:4: the line is longer than 1 MiB");
    assert_eq!(counts(&imported), [7, 2, 0], "{imported:?}");
}

#[test]
fn input_without_a_line_exits_1() {
    let server = Server::start();
    for text in ["", "\n\r\n"] {
        write(&server, "plants.jsonl", text);
        let imported = run(&mut plants(&server, &["import", "plants.jsonl"]));
        imported.expect(1, "", "0 unanswered; plants.jsonl contains no line\n");
    }
    run(&mut plants(&server, &["import", "."])).expect(1, "", "cannot read .: Is a directory");
}

/// Each script imports a plant and a line that is not a plant, in one of the ways in which people
/// pass input to a program.
#[test]
fn pipe_descriptor_or_process_substitution_is_imported() {
    let server = Server::start();
    write(&server, "plants.jsonl", format!("{}Fern\n", lines(1)));
    for script in [
        "gzip -c plants.jsonl | zcat | plants import -",
        "cat plants.jsonl | plants import /dev/stdin",
        "plants import <(cat plants.jsonl)",
        "plants import /dev/fd/7 7< plants.jsonl",
    ] {
        let mut bash = Command::new("bash");
        let programs = program().parent().expect("a folder").display();
        bash.args(["-c", &format!("PATH={programs}:$PATH; {script}")]).current_dir(server.folder());
        bash.env("PLANTS_URL", &server.url).env("PLANTS_TOKEN", &server.token).stdin(Stdio::null());
        run(&mut bash).expect(1, "Fern\n", ":2: it is not a JSON object\n");
    }
}

/// Starts an import of stdin. A thread writes this text to it, and returns stdin, which stays open.
fn spawn(mut import: Command, text: String) -> (Child, thread::JoinHandle<ChildStdin>) {
    let import = import.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut import = import.spawn().expect("the program starts");
    let mut stdin = import.stdin.take().expect("a pipe");
    let writer = thread::spawn(move || {
        // The write fails if the import ends before it has read everything.
        let _ = stdin.write_all(text.as_bytes());
        stdin
    });
    (import, writer)
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
        let text = text[..part * (round + 2)].join("\n");
        let (mut import, writer) = spawn(plants(&server, &["import", "-"]), text);
        let half_way = size * (round + 1) / (signals.len() + 1);
        server.wait_until("half of the plants", || stored(&server) > half_way);
        if *signal == Signal::SIGKILL {
            kill(Pid::from_raw(import.id().cast_signed()), *signal).expect("the import is running");
            assert_eq!(import.wait().expect("it ends").signal(), Some(Signal::SIGKILL as i32));
        } else {
            // The import begins at the first line, so what it created is what is stored.
            let interrupted = end_by(*signal, import);
            let [created, _, unanswered] = counts(&interrupted);
            assert_eq!((created, unanswered), (stored(&server), 0), "{interrupted:?}");
            assert!(interrupted.stderr.contains("interrupted; the rest of - was not tried"));
        }
        drop(writer.join());
    }
    write(&server, "plants.jsonl", text.join("\n"));
    let imported = run(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!((imported.exit_code, counts(&imported)), (Some(1), [size, size / 10, 0]));
    assert!(server.command(&["export"]) == exported, "the store differs from the file");
}

#[test]
fn import_survives_a_restart_of_the_service() {
    let server = Server::start();
    let listen = server.address.to_string();
    let (import, writer) = spawn(plants(&server, &["import", "-"]), lines(3000));
    server.wait_until("some plants", || stored(&server) > 500);
    let starting = server.stopped_by(Signal::SIGKILL);
    let server = starting.with(&["--listen", &listen]).start();
    drop(writer.join());
    let imported = Finished::of(import.wait_with_output().expect("the import ends"));
    assert_eq!((imported.exit_code, counts(&imported)), (Some(0), [3000, 0, 0]), "{imported:?}");
    assert_eq!(server.export().len(), 3000);
}

/// Starts a proxy that cuts off every fifth connection before the response.
fn lossy(server: SocketAddr) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("the listener is bound"));
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let client = client.expect("a connection");
            let server = TcpStream::connect(server).expect("the server listens");
            let [from, to] = [&client, &server].map(|stream| stream.try_clone().expect("a handle"));
            thread::spawn(move || forward(&from, &to, u64::MAX));
            // A response has more than 200 bytes.
            let bytes = if number % 5 == 0 { 100 } else { 2000 };
            thread::spawn(move || forward(&server, &client, bytes));
        }
    });
    url
}

/// Forwards at most this number of bytes, and then closes both connections.
fn forward(from: &TcpStream, mut to: &TcpStream, bytes: u64) {
    let _ = std::io::copy(&mut from.take(bytes), &mut to);
    let _ = [from, to].map(|stream| stream.shutdown(Shutdown::Both));
}

/// A response that is cut off may have been a success: its line is on stdout.
#[test]
fn import_through_a_lossy_proxy_loses_and_invents_nothing() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(500));
    let mut file = "plants.jsonl".to_owned();
    for round in 0.. {
        let mut import = plants(&server, &["import", &file]);
        let imported = run(import.env("PLANTS_URL", lossy(server.address)));
        let [created, rejected, unanswered] = counts(&imported);
        assert_eq!((rejected, unanswered), (0, imported.stdout.lines().count()), "{imported:?}");
        assert!(round > 0 || created + unanswered == 500, "{imported:?}");
        if imported.exit_code == Some(0) {
            break;
        }
        file = format!("rejected-{round}");
        write(&server, &file, imported.stdout);
    }
    assert_eq!(server.command(&["export"]), lines(500));
}

#[test]
fn lasting_fault_of_the_service_ends_the_import() {
    let server = Server::start();
    database::drop_plants_table(&server);
    write(&server, "plants.jsonl", lines(100));
    let arguments = ["import", "plants.jsonl", "--in-flight", "2", "--retries", "1"];
    let imported = run(&mut plants(&server, &arguments));
    let [created, rejected, unanswered] = counts(&imported);
    assert!((created, rejected) == (0, 0) && (2..=4).contains(&unanswered), "{imported:?}");
    let tried: String = lines(unanswered);
    imported.expect(1, &tried, "the service no longer creates plants: refused with 500");
    imported.expect(1, &tried, "; the rest of plants.jsonl was not tried: run the same command");
    assert!(imported.stderr.lines().next().expect("a line").ends_with("; retrying"));
}

/// The shipped configuration of nginx answers a 400 with `error` 429, and other proxies a 429.
#[test]
fn refusal_with_429_is_no_failed_try() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(1));
    let once_more = "retry-after: 1\r\n";
    let refused = response("400 Bad Request", once_more, r#"{"error":429,"message":"later"}"#);
    let plain = response("429 Too Many Requests", once_more, "");
    let created = response("200 OK", "", r#"{"name":"Monstera"}"#);
    let service = Scripted::start(&[refused, plain, created]);
    let mut import = plants(&server, &["import", "plants.jsonl", "--retries", "0"]);
    let imported = run(import.env("PLANTS_URL", &service.url));
    imported.expect(0, "", "plants.jsonl:1: refused with 429: later; retrying\n");
    assert_eq!(service.requests(), 3);
}

/// A proxy may refuse one body and let others pass.
#[test]
fn response_of_a_proxy_is_reported_with_its_status() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(1));
    for (status, expected) in [
        ("413 Content Too Large", "answered 413 Payload Too Large, which is not a response"),
        ("502 Bad Gateway", "answered 502 Bad Gateway, which is not a response"),
    ] {
        let proxy = Scripted::start(&[response(status, "", "<html>")]);
        let mut import = plants(&server, &["import", "plants.jsonl", "--retries", "1"]);
        let imported = run(import.env("PLANTS_URL", &proxy.url));
        imported.expect(1, &imported.stdout, expected);
        assert_eq!(counts(&imported), [0, 0, 1], "{imported:?}");
    }
}

/// Nothing answers at a closed port, an unknown host and a silent server. While nothing is
/// answered, only as many lines are read as may be in flight and as wait for them.
#[test]
fn service_that_never_answers_ends_the_import() {
    let server = Server::start();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let silent = format!("http://{}", silent.local_addr().expect("the listener is bound"));
    let [closed, unknown] = ["http://127.0.0.1:1", "http://unknown.invalid"];
    let large = plant(1, &"x".repeat(10_000), None) + "\n";
    thread::scope(|scope| {
        for (url, expected) in [
            (closed, "Connection refused"),
            (unknown, "dns error"),
            (&silent, "there is no answer"),
        ] {
            let (server, large) = (&server, large.clone());
            scope.spawn(move || {
                let started = Instant::now();
                let mut import = plants(server, &["import", "-", "--in-flight", "4", "--url", url]);
                let import = import.stdin(Stdio::piped()).stdout(Stdio::piped());
                let import = import.stderr(Stdio::piped()).spawn();
                let mut import = import.expect("the program starts");
                let mut stdin = import.stdin.take().expect("a pipe");
                let written = thread::spawn(move || {
                    (0..1000).take_while(|_| stdin.write_all(large.as_bytes()).is_ok()).count()
                });
                let imported = Finished::of(import.wait_with_output().expect("it ends"));
                imported.expect(1, "", expected);
                imported.expect(1, "", " 4 unanswered; nothing was answered within 10s: ");
                assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
                let written = written.join().expect("the writer ends");
                assert!(written < 40, "{written} lines of 10 KB were read ahead");
            });
        }
    });
}

/// Stdin stays open, as if the program before the pipe had more to send later.
#[test]
fn refused_token_ends_the_import_of_a_pipe_at_once() {
    let server = Server::start();
    let mut command = plants(&server, &["import", "-"]);
    command.env("PLANTS_TOKEN", "pst_");
    let (import, writer) = spawn(command, lines(1));
    let _stdin = writer.join().expect("the writer ends");
    let imported = Finished::of(import.wait_with_output().expect("the import ends"));
    imported.expect(1, "", "1 unanswered; refused with 401: ");
}

/// The import blocks once a pipe is full.
#[test]
fn signal_ends_an_import_whose_output_nobody_reads() {
    let server = Server::start();
    let (mut import, writer) = spawn(plants(&server, &["import", "-"]), "Fern\n".repeat(100_000));
    let stderr = import.stderr.as_ref().expect("a pipe");
    server.wait_until("a full pipe", || {
        ioctl_fionread(stderr).expect("a pipe") > 60_000 && catches(&import, Signal::SIGTERM)
    });
    kill(Pid::from_raw(import.id().cast_signed()), Signal::SIGTERM).expect("the program runs");
    assert_eq!(import.wait().expect("the import ends").code(), Some(143));
    drop(writer.join());
}

#[test]
fn import_shows_a_bar_and_retries_on_a_terminal() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(2000));
    let shown = on_a_terminal(|stdout, stderr| {
        let mut import = plants(&server, &["import", "plants.jsonl"]);
        import.stdout(stdout).stderr(stderr);
        import
    });
    assert!(shown.contains(" KiB/") && shown.contains(" left"), "{shown:?}");
    assert!(shown.contains("plants: 2000 created or already there, "), "{shown:?}");
}
