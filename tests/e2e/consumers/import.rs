//! `plants import`: every outcome, interruptions, and the recipe that converts CSV.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, ChildStdin};
use std::sync::{Arc, Mutex};

use plant_store_tests::prelude::*;
use plant_store_tests::process::{end, send};
use rustix::io::ioctl_fionread;

use super::commands::{catches, end_by};
use super::{Scripted, listener, plants, refusal, response, write};
use crate::database;

/// Returns this number of plants as JSON lines, with ids from 0.
fn lines(plants: usize) -> String {
    let line = |id| plant(i64::try_from(id).expect("a small number"), "Monstera", Some("tropical"));
    (0..plants).map(|id| line(id) + "\n").collect()
}

/// Returns the numbers in the summary: created, rejected, unanswered.
fn counts(ended: &Ended) -> [usize; 3] {
    let summary = ended.stderr.lines().last().expect("a summary");
    let words = summary.split(';').next().expect("a clause").split(' ');
    let numbers: Vec<_> = words.filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("there is no summary: {ended:?}"))
}

fn stored(server: &Server) -> usize {
    let count = database::number(server, "SELECT count(*) FROM plants");
    usize::try_from(count).expect("not negative")
}

#[test]
fn import_of_an_export_is_idempotent() {
    let server = Server::start();
    let exported = [
        r#"{"id":-9223372036854775808,"name":""}"#,
        r#"{"id":2,"name":"\u0000\"é","tag":""}"#,
        r#"{"id":9223372036854775807,"name":"Fern","tag":"indoor"}"#,
    ];
    let exported = exported.map(|line| line.to_owned() + "\n").concat();
    write(&server, "plants.jsonl", &exported);
    for _ in 0..2 {
        let imported = run(&mut plants(&server, "import plants.jsonl"));
        imported.expect(0, "", "plants: ");
        assert_eq!((counts(&imported), imported.stderr.lines().count()), ([3, 0, 0], 1));
    }
    assert_eq!(server.command(&["export"]), exported);
}

/// The lines on stdout are unchanged and in order, so they can be imported again. Without the limit
/// on the length of a line, an endless line would exhaust the memory.
#[test]
fn rejected_lines_are_stdout_and_reasons_are_stderr() {
    let server = Server::start();
    let too_large = plant(10, &"x".repeat(64 * 1024), None) + "\r\n";
    // The reasons name the members and the errors.
    let rejected = [
        ("Fern\u{9b}2J\n", "object"),
        ("  {\"id\":4,\"nam\":\"Fern\"} \r\n", "`name`"),
        ("{\"id\":1,\"name\":\"Ficus\"}\n", "409"),
        ("{\"id\":8,\"name\":\"Fern\",\"tags\":\"indoor\"}\n", "`tags`"),
        (&too_large, "413"),
        ("{\"id\":\"11\",\"name\":\"Fern\"}\n", "\"11\""),
    ];
    let [not_json, no_name, taken, unknown, large, text] = rejected.map(|(line, _)| line);
    let fern = |id| plant(id, "Fern", None) + "\n";
    let head = [&fern(1), not_json, "\r\n", "  \n", no_name, &fern(6)].concat();
    let tail = [taken, unknown, large, &fern(12), text.trim_end()].concat();
    write(&server, "plants.jsonl", head + &tail);
    for (file, numbers, created) in
        [("plants.jsonl", [2, 5, 7, 8, 9, 11], 3), ("rejected", [1, 2, 3, 4, 5, 6], 0)]
    {
        let imported = run(&mut plants(&server, &format!("import {file}")));
        imported.expect(1, &rejected.map(|(line, _)| line).concat(), "plants: ");
        assert_eq!(counts(&imported), [created, 6, 0], "{imported:?}");
        for (line, (number, (_, reason))) in
            imported.stderr.lines().zip(numbers.iter().zip(rejected))
        {
            let is_named = line.starts_with(&format!("{file}:{number}: ")) && line.contains(reason);
            assert!(is_named, "{line}");
        }
        write(&server, "rejected", imported.stdout);
    }
    let ignoring = run(&mut plants(&server, "import rejected --ignore-unknown"));
    assert_eq!(counts(&ignoring), [1, 5, 0], "{ignoring:?}");
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 6, 8, 12]);

    let server = Server::start();
    let endless = format!("{}{}\nFern\n{}", lines(3), "x".repeat((1 << 20) + 1), lines(4));
    let table = [
        (&*endless, "Fern\n", "plants.jsonl:4: the line is longer than 1 MiB", [7, 2, 0]),
        ("", "", "contains no line", [0, 0, 0]),
        ("\n\r\n", "", "contains no line", [0, 0, 0]),
    ];
    each_row(table, |(text, stdout, stderr, numbers)| {
        write(&server, "plants.jsonl", text);
        let imported = run(&mut plants(&server, "import plants.jsonl"));
        imported.expect(1, stdout, stderr);
        assert_eq!(counts(&imported), numbers, "{imported:?}");
    });
}

/// Each script imports a plant and a line that is not a plant, in one of the ways in which people
/// pass input to a program.
#[test]
fn pipe_descriptor_or_process_substitution_is_imported() {
    let server = Server::start();
    write(&server, "plants.jsonl", format!("{}Fern\n", lines(1)));
    let table = [
        "gzip -c plants.jsonl | zcat | \"$0\" import -",
        "cat plants.jsonl | \"$0\" import /dev/stdin",
        "\"$0\" import <(cat plants.jsonl)",
        "\"$0\" import /dev/fd/7 7< plants.jsonl",
    ];
    each_row(table, |script| {
        let mut bash = behind(&["bash", "-c", script], &plants(&server, "import"));
        run(&mut bash).expect(1, "Fern\n", ":2: ");
    });
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
        let (import, writer) = spawn(plants(&server, "import -"), text);
        let half_way = size * (round + 1) / (signals.len() + 1);
        server.wait_until("half of the plants", || stored(&server) > half_way);
        if *signal == Signal::SIGKILL {
            send(*signal, &import);
            assert_eq!(end(import).code, None);
        } else {
            // The import begins at the first line, so what it created is what is stored.
            let interrupted = end_by(*signal, import);
            let [created, _, unanswered] = counts(&interrupted);
            assert_eq!((created, unanswered), (stored(&server), 0), "{interrupted:?}");
            assert!(interrupted.stderr.contains("the rest of - was not tried"), "{interrupted:?}");
        }
        drop(writer.join());
    }
    write(&server, "plants.jsonl", text.join("\n"));
    let imported = run(&mut plants(&server, "import plants.jsonl"));
    assert_eq!((imported.code, counts(&imported)), (Some(1), [size, size / 10, 0]));
    assert!(server.command(&["export"]) == exported, "the store differs from the file");
}

/// Starts a proxy that cuts off every fifth connection before the response. Returns its URL, and
/// the address to which it connects.
fn lossy(server: SocketAddr) -> (String, Arc<Mutex<SocketAddr>>) {
    let (listener, url) = listener();
    let address = Arc::new(Mutex::new(server));
    let current = Arc::clone(&address);
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let client = client.expect("a connection");
            let Ok(server) = TcpStream::connect(*current.lock().expect("no panic")) else {
                continue;
            };
            let [from, to] = [&client, &server].map(|stream| stream.try_clone().expect("a handle"));
            thread::spawn(move || forward(&from, &to, u64::MAX));
            // A response has more than 200 bytes.
            let bytes = if number % 5 == 0 { 100 } else { 2000 };
            thread::spawn(move || forward(&server, &client, bytes));
        }
    });
    (url, address)
}

/// Forwards at most this number of bytes, and then closes both connections.
fn forward(from: &TcpStream, mut to: &TcpStream, bytes: u64) {
    let _ = std::io::copy(&mut from.take(bytes), &mut to);
    let _ = [from, to].map(|stream| stream.shutdown(Shutdown::Both));
}

/// A response that is cut off may have been a success: its line is on stdout. The service is killed
/// during the import, and started again.
#[test]
fn import_through_a_lossy_proxy_and_a_crash_loses_nothing() {
    const PLANTS: usize = 1000;
    let mut server = Server::start();
    let (url, address) = lossy(server.address);
    let mut text = lines(PLANTS);
    for round in 0.. {
        let mut import = plants(&server, "import -");
        import.env("PLANTS_URL", &url);
        let (import, writer) = spawn(import, text);
        if round == 0 {
            server.wait_until("some plants", || stored(&server) > PLANTS / 10);
            server = server.stopped_by(Signal::SIGKILL).start();
            *address.lock().expect("no panic") = server.address;
        }
        drop(writer.join());
        let imported = end(import);
        let [created, rejected, unanswered] = counts(&imported);
        assert_eq!((rejected, unanswered), (0, imported.stdout.lines().count()), "{imported:?}");
        assert!(round > 0 || created + unanswered == PLANTS, "{imported:?}");
        if imported.code == Some(0) {
            break;
        }
        text = imported.stdout;
    }
    assert_eq!(server.command(&["export"]), lines(PLANTS));
}

#[test]
fn lasting_fault_of_the_service_ends_the_import() {
    let server = Server::start();
    database::drop_plants_table(&server);
    write(&server, "plants.jsonl", lines(100));
    let imported = run(&mut plants(&server, "import plants.jsonl --in-flight 2 --retries 1"));
    let [created, rejected, unanswered] = counts(&imported);
    assert!((created, rejected) == (0, 0) && (2..=4).contains(&unanswered), "{imported:?}");
    imported.expect(1, &lines(unanswered), "; the rest of plants.jsonl was not tried");
    assert!(imported.stderr.lines().next().expect("a line").ends_with("; retrying"));
}

/// The shipped configuration of nginx answers a 400 with `error` 429, and other proxies a 429:
/// neither is a failed try. A proxy may refuse one body and let others pass.
#[test]
fn response_of_a_proxy_is_retried_or_reported() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(1));
    let once_more = "retry-after: 1\r\n";
    let [later, plain] =
        [refusal(429, once_more), response("429 Too Many Requests", once_more, "")];
    let created = response("200 OK", "", r#"{"name":"Monstera"}"#);
    // A 413 ends the import before the service has answered, and then no line is printed.
    let table = [
        (vec![later, plain, created], "0", 0, 0, "429", [1, 0, 0]),
        (vec![response("413 Content Too Large", "", "<html>")], "1", 1, 0, "413", [0, 0, 1]),
        (vec![response("502 Bad Gateway", "", "<html>")], "1", 1, 1, "502", [0, 0, 1]),
    ];
    each_row(table, |(answers, retries, code, printed, expected, numbers)| {
        let proxy = Scripted::start(&answers);
        let mut import = plants(&server, &format!("import plants.jsonl --retries {retries}"));
        let imported = run(import.env("PLANTS_URL", &proxy.url));
        imported.expect(code, &lines(printed), expected);
        assert_eq!(counts(&imported), numbers, "{imported:?}");
    });
}

/// Nothing answers at a closed port, an unknown host and a silent server. While nothing is
/// answered, only as many lines are read as may be in flight and as wait for them.
#[test]
fn service_that_never_answers_ends_the_import() {
    let server = Server::start();
    let (_silent, silent) = listener();
    let large = plant(1, &"x".repeat(10_000), None) + "\n";
    thread::scope(|scope| {
        for (url, expected) in [
            ("http://127.0.0.1:1", "Connection refused"),
            ("http://unknown.invalid", "dns error"),
            (&silent, "there is no answer"),
        ] {
            let (server, large) = (&server, large.repeat(1000));
            scope.spawn(move || {
                let started = Instant::now();
                let import = plants(server, &format!("import - --in-flight 4 --url {url}"));
                let (import, writer) = spawn(import, String::new());
                let mut stdin = writer.join().expect("the writer ends");
                let written = thread::spawn(move || {
                    let pieces = large.as_bytes().chunks(1000);
                    pieces.take_while(|piece| stdin.write_all(piece).is_ok()).count() / 10
                });
                let imported = end(import);
                imported.expect(1, "", expected);
                assert_eq!(counts(&imported)[2], 4, "{imported:?}");
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
    let mut command = plants(&server, "import -");
    command.env("PLANTS_TOKEN", "pst_");
    let (import, writer) = spawn(command, lines(1));
    let _stdin = writer.join().expect("the writer ends");
    end(import).expect(1, "", "1 unanswered; refused with 401: ");
}

/// The import blocks once a pipe is full.
#[test]
fn signal_ends_an_import_whose_output_nobody_reads() {
    let server = Server::start();
    let (mut import, writer) = spawn(plants(&server, "import -"), "Fern\n".repeat(100_000));
    let stderr = import.stderr.as_ref().expect("a pipe");
    server.wait_until("a full pipe", || {
        ioctl_fionread(stderr).expect("a pipe") > 60_000 && catches(&import, Signal::SIGTERM)
    });
    send(Signal::SIGTERM, &import);
    assert_eq!(import.wait().expect("the import ends").code(), Some(143));
    drop(writer.join());
}

#[test]
fn import_shows_a_bar_and_a_summary_on_a_terminal() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(2000));
    let shown = on_a_terminal(&plants(&server, "import plants.jsonl"));
    assert!(shown.contains(" KiB/") && shown.contains(" left"), "{shown:?}");
    assert!(shown.contains("plants: 2000 created or already there, "), "{shown:?}");
}

/// The recipe of the client's page converts CSV to JSON lines. Every record is created as it stands
/// in the file, or not at all. Each row has a file and the lines, or nothing if the recipe fails.
/// The import refuses what is not a plant.
#[test]
fn recipe_converts_csv_exactly_or_fails() {
    const PAGE: &str = include_str!("../../../client/README.md");
    let (_, recipe) = PAGE.split_once("```python\n").expect("the page has a recipe");
    let (recipe, _) = recipe.split_once("```").expect("the recipe ends");
    let server = Server::start();
    let table = [
        (
            &b"id,name,tag\r\n1,Fern,\r\n\r\n2,\"a \"\"b\"\", c\",in\r\n"[..],
            "{\"id\": 1, \"name\": \"Fern\"}\n\
             {\"id\": 2, \"name\": \"a \\\"b\\\", c\", \"tag\": \"in\"}\n",
        ),
        (
            b"\xef\xbb\xbfname,id\nF\xc3\xa9rn,-9007199254740993\n",
            "{\"name\": \"F\\u00e9rn\", \"id\": -9007199254740993}\n",
        ),
        (b"id,name\n3,\"a\nb\"\n", "{\"id\": 3, \"name\": \"a\\nb\"}\n"),
        // Rows that were altered without a word by a lenient reader.
        (b"id,name\n1,\"a\"b\n", ""),
        (b"id,name\n1,a\rb\n", ""),
        (b"id,name\n1,a\r2,b\n", ""),
        (b"id,name\n1,\"Fern\n2,Ficus\n", ""),
        (b"id,name\n1,Fern,extra\n", ""),
        (b"id,name,tag\n1,Fern\n", ""),
        (b"id,name\n007,Fern\n", ""),
        (b"id,name\n+5,Fern\n", ""),
        (b"id,name\n0x10,Fern\n", ""),
        (b"id,name\n,Fern\n", ""),
        (b"id,name\n1,Caf\xe9\n", ""),
        (b"id;name\n1;Fern\n", ""),
        (b"id,name\n1.5,Fern\n", "{\"id\": 1.5, \"name\": \"Fern\"}\n"),
        (b"id,name\n\"\"\"1\"\"\",Fern\n", "{\"id\": \"1\", \"name\": \"Fern\"}\n"),
        (b"id,nam\n1,Fern\n", "{\"id\": 1, \"nam\": \"Fern\"}\n"),
    ];
    each_row(
        table.map(|(csv, lines)| (String::from_utf8_lossy(csv), csv, lines)),
        |(_, csv, lines)| {
            write(&server, "plants.csv", csv);
            let mut python = Command::new("python3");
            python.args(["-c", recipe, "plants.csv"]).current_dir(server.folder());
            let converted = run(&mut python);
            assert_eq!(converted.code == Some(0), !lines.is_empty(), "{converted:?}");
            assert!(lines.is_empty() || converted.stdout == lines, "{converted:?}");
            write(&server, "plants.jsonl", lines);
            run(&mut plants(&server, "import plants.jsonl"));
        },
    );
    let created = server.export();
    assert_eq!(created.keys().copied().collect::<Vec<_>>(), [-9_007_199_254_740_993, 1, 2, 3]);
    assert_eq!((&*created[&1].name, &*created[&2].name), ("Fern", "a \"b\", c"));
}
