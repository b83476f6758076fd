//! `plants import`: every outcome, kills, and the recipe that converts CSV.

use std::io::Write;
use std::process::ChildStdin;

use plant_store_tests::prelude::*;
use plant_store_tests::process::{Process, send};

use super::{Scripted, plants, refusal, response, write};
use crate::database;

/// Returns this number of plants as JSON lines, with ids from 0.
fn lines(plants: usize) -> String {
    let line = |id| plant(i64::try_from(id).expect("a small number"), "Monstera", Some("tropical"));
    (0..plants).map(|id| line(id) + "\n").collect()
}

/// Returns the numbers in the summary: created, rejected.
fn counts(ended: &Ended) -> [usize; 2] {
    let summary = ended.stderr.lines().last().expect("a summary");
    let words = summary.split(';').next().expect("a clause").split(' ');
    let numbers: Vec<_> = words.filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("there is no summary: {ended:?}"))
}

fn stored(server: &Server) -> usize {
    let count = database::number(server, "SELECT count(*) FROM plants");
    usize::try_from(count).expect("not negative")
}

/// Lines, and what the reason names if a line is rejected. The last line has no line break.
const LINES: [(&str, &str); 11] = [
    ("{\"id\":-9223372036854775808,\"name\":\"\"}\n", ""),
    ("Fern\u{9b}2J\n", "object"),
    ("\r\n", ""),
    ("  {\"id\":4,\"nam\":\"Fern\"} \r\n", "`name`"),
    ("{\"id\":2,\"name\":\"\\u0000\\\"é\",\"tag\":\"\"}\n", ""),
    ("{\"id\":2,\"name\":\"Ficus\"}\n", "409"),
    ("  \n", ""),
    ("{\"id\":8,\"name\":\"Fern\",\"tags\":\"indoor\"}\n", "`tags`"),
    ("TOO LARGE\r\n", "413"),
    ("{\"id\":9223372036854775807,\"name\":\"Fern\",\"tag\":\"indoor\"}\n", ""),
    ("{\"id\":\"11\",\"name\":\"Fern\"}", "\"11\""),
];

/// The lines on stdout are unchanged and in order, so they can be imported again. What was exported
/// can be imported, too. Stdin and a pipe are read like a file.
#[test]
fn rejected_lines_are_stdout_and_reasons_are_stderr() {
    let server = Server::start();
    let large = plant(10, &"x".repeat(64 * 1024), None);
    let lines = LINES.map(|(line, reason)| (line.replace("TOO LARGE", &large), reason));
    write(&server, "plants.jsonl", lines.iter().map(|(line, _)| &**line).collect::<String>());
    let mut rejected = String::new();
    let mut reasons = Vec::new();
    for (number, (line, reason)) in (1..).zip(&lines) {
        if !reason.is_empty() {
            rejected += &(line.trim_end_matches('\n').to_owned() + "\n");
            reasons.push((format!("plants.jsonl:{number}: "), reason));
        }
    }
    let imported = run(&mut plants(&server, "import plants.jsonl"));
    imported.expect(1, &rejected, "plants: ");
    assert_eq!(counts(&imported), [3, reasons.len()], "{imported:?}");
    for (line, (place, reason)) in imported.stderr.lines().zip(&reasons) {
        assert!(line.starts_with(place) && line.contains(*reason), "{line}");
    }
    write(&server, "rejected", &rejected);
    let again = run(&mut plants(&server, "import rejected"));
    again.expect(1, &rejected, "rejected:1: ");
    assert_eq!(counts(&again), [0, reasons.len()], "{again:?}");
    let script = "\"$0\" import <(cat rejected) --ignore-unknown";
    let ignoring = run(&mut behind(&["bash", "-c", script], &plants(&server, "import")));
    assert_eq!(counts(&ignoring), [1, 5], "{ignoring:?}");
    let unknown = "{\"id\":8,\"name\":\"Fern\"}\n";
    let exported = [&*lines[0].0, &lines[4].0, unknown, &lines[9].0].concat();
    assert_eq!(server.run("export").succeeded(), exported);
    write(&server, "plants.jsonl", exported);
    let imported = run(&mut plants(&server, "import plants.jsonl"));
    imported.expect(0, "", "plants: ");
    assert_eq!((counts(&imported), imported.stderr.lines().count()), ([4, 0], 1));
}

/// Without the limit on the length of a line, an endless line would exhaust the memory.
#[test]
fn endless_line_is_only_named_and_no_line_is_a_failure() {
    let server = Server::start();
    let import = |text: &str| {
        write(&server, "plants.jsonl", text);
        run(&mut plants(&server, "import plants.jsonl"))
    };
    let endless = "x".repeat((1 << 20) + 1);
    let imported = import(&format!("{}{endless}\nFern\n{}", lines(3), lines(4)));
    imported.expect(1, "Fern\n", "plants.jsonl:4: ");
    assert_eq!(counts(&imported), [7, 2], "{imported:?}");
    let imported = import("\n\r\n");
    imported.expect(1, "", "plants: ");
    assert_eq!(counts(&imported), [0, 0], "{imported:?}");
}

/// Starts an import of stdin. A thread writes this text to it, and returns stdin, which stays open.
fn spawn(mut import: Command, text: String) -> (Process, thread::JoinHandle<ChildStdin>) {
    let import = import.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut import = Process::start(import);
    let mut stdin = import.stdin.take().expect("a pipe");
    let writer = thread::spawn(move || {
        // The write fails if the import ends before it has read everything.
        let _ = stdin.write_all(text.as_bytes());
        stdin
    });
    (import, writer)
}

/// At each kill many creates are in flight, and more lines are waiting. Every tenth id has a second
/// line with a different plant, and every run must store the plant of the first line.
#[test]
fn killed_import_that_is_run_again_completes_the_store() {
    const SIZE: usize = 2000;
    const KILLS: usize = 3;
    let exported = lines(SIZE);
    let text: Vec<_> = exported
        .lines()
        .enumerate()
        .flat_map(|(number, line)| {
            let second = line.replace("Monstera", "another");
            [line.to_owned()].into_iter().chain((number % 10 == 0).then_some(second))
        })
        .collect();
    let server = Server::start();
    for round in 0..KILLS {
        let part = text.len() / (KILLS + 1);
        let text = text[..part * (round + 2)].join("\n");
        let (import, writer) = spawn(plants(&server, "import -"), text);
        let half_way = SIZE * (round + 1) / (KILLS + 1);
        server.wait_until("half of the plants", || stored(&server) > half_way);
        send(Signal::SIGKILL, &import);
        assert_eq!(import.end().code, None);
        drop(writer.join());
    }
    write(&server, "plants.jsonl", text.join("\n"));
    let imported = run(&mut plants(&server, "import plants.jsonl"));
    assert_eq!((imported.code, counts(&imported)), (Some(1), [SIZE, SIZE / 10]));
    assert!(server.run("export").succeeded() == exported, "the store differs from the file");
}

/// The shipped configuration of nginx answers a 400 with `error` 429. A proxy may refuse one body
/// and let others pass. A response that is cut off may have been a success.
#[test]
fn answer_of_a_proxy_or_no_answer_is_retried_or_reported() {
    let server = Server::start();
    write(&server, "plants.jsonl", lines(1));
    let import = |answers: &[String]| {
        // The first request checks the token.
        let proxy = Scripted::start(&[&[refusal(400, "")], answers].concat());
        let mut import = plants(&server, "import plants.jsonl --retries 2");
        run(import.env("PLANTS_URL", &proxy.url))
    };
    let created = response("200 OK", "", r#"{"name":"Monstera"}"#);
    let imported = import(&[refusal(429, "retry-after: 1\r\n"), String::new(), created.clone()]);
    imported.expect(0, "", "plants: ");
    assert_eq!(counts(&imported), [1, 0], "{imported:?}");
    let not_created = [
        (created[..created.len() - 1].to_owned(), 1, "plants.jsonl:1: "),
        (response("413 Content Too Large", "", "<html>"), 1, "413"),
        (response("502 Bad Gateway", "", "<html>"), 0, "502"),
        (String::new(), 0, "run the same command again"),
    ];
    each_row(not_created, |(answer, rejected, expected)| {
        let imported = import(&[answer]);
        imported.expect(1, &lines(rejected), expected);
        assert_eq!(counts(&imported), [0, rejected], "{imported:?}");
    });
}

/// While nothing is answered, only as many lines are read as may be in flight and as wait for them.
#[test]
fn import_reads_no_more_lines_than_are_in_flight() {
    let server = Server::starting().with(&["--store-timeout", "1s"]).start();
    let _lock = database::locked(&server);
    let import = plants(&server, "import - --in-flight 4 --retries 0");
    let (import, writer) = spawn(import, String::new());
    let mut stdin = writer.join().expect("the writer ends");
    let large = (plant(1, &"x".repeat(10_000), None) + "\n").repeat(1000);
    let written = thread::spawn(move || {
        large.as_bytes().chunks(1000).take_while(|piece| stdin.write_all(piece).is_ok()).count()
    });
    import.end().expect(1, "", "-:1: refused with 503: ");
    let written = written.join().expect("the writer ends") / 10;
    assert!(written < 40, "{written} lines of 10 KB were read ahead");
}

/// Stdin stays open, as if the program before the pipe had more to send later.
#[test]
fn refused_token_ends_the_import_of_a_pipe_at_once() {
    let server = Server::start();
    let mut command = plants(&server, "import -");
    command.env("PLANTS_TOKEN", "pst_");
    let (import, writer) = spawn(command, lines(1));
    let _stdin = writer.join().expect("the writer ends");
    import.end().expect(1, "", "\"error\":401");
}

/// The recipe of the client's page converts CSV to JSON lines. Every record is created as it stands
/// in the file, or the recipe fails. Each row has a file and the lines, or nothing.
#[test]
fn recipe_converts_csv_exactly_or_fails() {
    const PAGE: &str = include_str!("../../../client/README.md");
    let (_, recipe) = PAGE.split_once("```python\n").expect("the page has a recipe");
    let (recipe, _) = recipe.split_once("```").expect("the recipe ends");
    let server = Server::start();
    let converted = [
        "{\"id\": 1, \"name\": \"Fern\"}\n\
         {\"id\": 2, \"name\": \"a \\\"b\\\", c\", \"tag\": \"in\"}\n",
        "{\"name\": \"F\\u00e9rn\", \"id\": -9007199254740993}\n",
        "{\"id\": 3, \"name\": \"a\\nb\"}\n",
    ];
    let table = [
        (&b"id,name,tag\r\n1,Fern,\r\n\r\n2,\"a \"\"b\"\", c\",in\r\n"[..], converted[0]),
        (b"\xef\xbb\xbfname,id\nF\xc3\xa9rn,-9007199254740993\n", converted[1]),
        (b"id,name\n3,\"a\nb\"\n", converted[2]),
        (b"id,name\n1,\"a\"b\n", ""),
        (b"id,name\n1,a\rb\n", ""),
        (b"id,name\n1,\"Fern\n2,Ficus\n", ""),
        (b"id,name\n1,Fern,extra\n", ""),
        (b"id,name\n007,Fern\n", ""),
        (b"id,name\n,Fern\n", ""),
        (b"id,name\n1,Caf\xe9\n", ""),
        (b"id;name\n1;Fern\n", ""),
    ];
    each_row(
        table.map(|(csv, lines)| (csv.escape_ascii().to_string(), lines, csv)),
        |(_, lines, csv)| {
            write(&server, "plants.csv", csv);
            let mut python = Command::new("python3");
            python.args(["-c", recipe, "plants.csv"]).current_dir(server.folder());
            let ended = run(&mut python);
            assert_eq!(ended.code == Some(0), !lines.is_empty(), "{ended:?}");
            assert!(lines.is_empty() || ended.stdout == lines, "{ended:?}");
        },
    );
    write(&server, "plants.jsonl", converted.concat());
    run(&mut plants(&server, "import plants.jsonl")).expect(0, "", "plants: ");
    let created = server.export();
    assert_eq!(created.keys().copied().collect::<Vec<_>>(), [-9_007_199_254_740_993, 1, 2, 3]);
    assert_eq!((&*created[&1].name, &*created[&2].name), ("Fern", "a \"b\", c"));
}
