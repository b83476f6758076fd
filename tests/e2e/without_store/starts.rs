//! What a start says: which variables it ignores, which limits are in force, what a killed start
//! has left, and that nobody has read its standard output. And `serve --check`, which starts
//! nothing.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_launcher::Launched;
use plant_store_tests::tls::{Authority, CERT, KEY, TLS};
use plant_store_tests::{
    Server, binary_in, failure, plant, run, wait_until, without_own_variables,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::database::STORE;

/// The first record with that message, when there is one.
fn record(log: &Path, message: &str) -> Value {
    let find = || {
        let text = fs::read_to_string(log).unwrap_or_default();
        let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.find(|record| record["msg"] == message)
    };
    wait_until(|| find().is_some(), || format!("no record {message}"));
    find().expect("it is there")
}

fn record_of(server: &Server, message: &str) -> Value {
    record(&server.folder().join("log"), message)
}

const IGNORED: &str = "variables that no flag has are ignored";

#[test]
fn variables_that_no_flag_has_are_a_warning_unless_they_are_of_kubernetes() {
    let of_kubernetes = [
        "PLANT_STORE_SERVICE_HOST",
        "PLANT_STORE_SERVICE_PORT",
        "PLANT_STORE_SERVICE_PORT_HTTP",
        "PLANT_STORE_PORT",
        "PLANT_STORE_PORT_8080_TCP",
        "PLANT_STORE_PORT_8080_TCP_ADDR",
        "PLANT_STORE_BLUE_SERVICE_HOST",
    ];
    let start = |names: &[&str]| {
        let starting = Server::starting().command(|command| {
            command.env("PLANT_STORE_MAX_CREATES", "16").envs(names.iter().map(|name| (name, "x")));
        });
        starting.start()
    };
    let server = start(&[&of_kubernetes[..], &["PLANT_STORE_TLS_CERTS", "PLANT_STORE_X"]].concat());
    let warning = record_of(&server, IGNORED);
    assert_eq!(warning["level"], "warning");
    assert_eq!(warning["variables"], "PLANT_STORE_TLS_CERTS, PLANT_STORE_X");

    let server = start(&of_kubernetes);
    server.wait_for_log("listening");
    assert!(!server.log().contains(IGNORED), "{}", server.log());
}

#[test]
fn start_logs_the_limits_in_force() {
    let server = Server::starting().with(&["--max-rate", "7", "--idle-timeout", "90s"]).start();
    let limits = record_of(&server, "limits");
    assert_eq!((&limits["max_rate"], &limits["idle_timeout"]), (&7.into(), &"1m 30s".into()));
    assert_eq!((&limits["max_body"], &limits["max_creates"]), (&65536.into(), &1024.into()));
    assert_eq!((&limits["store_timeout"], &limits["body_timeout"]), (&"5s".into(), &"10s".into()));
    assert_eq!(limits["shutdown_timeout"], "10s");
    assert_eq!(limits["max_connections"], 500);
}

/// A start that is killed before the store has its name leaves a file with another one.
#[test]
fn start_names_the_file_that_a_killed_start_has_left() {
    let starting = Server::starting();
    File::create(starting.folder().join(".plant-store-abc")).expect("a file");
    let server = starting.start();
    let warning = record_of(
        &server,
        "left by a start or a copy that was killed, or a copy runs; if none does, delete it",
    );
    assert!(warning["file"].as_str().expect("text").ends_with(".plant-store-abc"), "{warning}");
}

/// Serves in that folder, with a standard output that takes nothing and its log in the file `log`.
fn serve_into_full(folder: &Path) -> Child {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let log = File::create(folder.join("log")).expect("a file");
    binary_in(folder).arg("serve").stdout(full).stderr(log).spawn().expect("the binary starts")
}

#[test]
fn existing_store_is_served_with_a_warning_if_standard_output_is_full() {
    let folder = TempDir::new().expect("a temporary folder");
    let begin = ["serve", "--first-token", "none"];
    drop(Launched::start(binary_in(folder.path()).args(begin)).expect("it serves"));
    let mut process = serve_into_full(folder.path());
    let log = folder.path().join("log");
    assert!(record(&log, "listening")["address"].is_string());
    let warning = record(&log, "the address was not printed");
    assert_eq!(warning["level"], "warning");
    assert!(warning["cause"].as_str().expect("text").contains("No space left"), "{warning}");
    let id = Pid::from_raw(process.id().try_into().expect("a process id"));
    kill(id, Signal::SIGTERM).expect("the process is there");
    assert!(process.wait().expect("it ends").success());
}

#[test]
fn new_store_whose_first_token_is_not_printed_is_status_1_and_the_message_says_so() {
    let folder = TempDir::new().expect("a temporary folder");
    let status = serve_into_full(folder.path()).wait().expect("it ends");
    assert_eq!(status.code(), Some(1));
    let log = fs::read_to_string(folder.path().join("log")).expect("text");
    let last = log.lines().last().expect("a last line");
    for expected in [
        "plant-store: the new store has a token that nobody has seen",
        "`plant-store token revoke first`, then `plant-store token create NAME`",
        "cannot write to standard output: No space left",
    ] {
        assert!(last.contains(expected), "{last}");
    }
    let listed = run(folder.path(), &["token", "list"]).stdout;
    assert!(String::from_utf8(listed).expect("text").contains("first "));
}

/// Nobody would see the token.
#[test]
fn token_create_with_a_closed_standard_output_issues_none() {
    let server = Server::start();
    let before = server.command(&["token", "list", "--json"]);
    for redirection in [">&-", "> /dev/null"] {
        let mut shell = Command::new("sh");
        without_own_variables(&mut shell);
        let create = format!("exec \"$0\" token create ci {redirection}");
        shell.args(["-c", &create]).arg(binary_in(server.folder()).get_program());
        shell.env("PLANT_STORE_STORE", server.store()).current_dir(server.folder());
        let (status, said) = failed(&mut shell);
        assert_eq!(status, Some(1), "{redirection}: {said}");
        assert!(said.contains("nobody would see the token: none is issued"), "{said}");
        assert_eq!(server.command(&["token", "list", "--json"]), before);
    }
}

/// The status, and what is said on standard error.
fn failed(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command.output().expect("it starts");
    (status.code(), String::from_utf8(stderr).expect("text"))
}

#[test]
fn commands_that_only_read_do_not_advise_to_create_a_store() {
    let folder = TempDir::new().expect("a temporary folder");
    for (words, flag) in [
        (&["copy", "--from", "sqlite:typo.db", "--to", "sqlite:copy.db"][..], "--from"),
        (&["check", "--store", "sqlite:typo.db"], "--store"),
    ] {
        let (_, said) = failure(binary_in(folder.path()).args(words));
        assert!(said.ends_with(&format!("/typo.db: see {flag}\n")), "{said}");
        assert!(said.contains("there is no plant store at sqlite:/"), "{said}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn value_of_a_variable_that_is_wrong_names_the_variable() {
    let folder = TempDir::new().expect("a temporary folder");
    for (variable, value, words, expected) in [
        ("PLANT_STORE_MAX_BODY", "0", "serve", "'PLANT_STORE_MAX_BODY, the variable of --max-body"),
        ("PLANT_STORE_LOG_FORMAT", "xml", "serve", "'PLANT_STORE_LOG_FORMAT, the variable of"),
        ("PLANT_STORE_STORE", "x.db", "check", "'PLANT_STORE_STORE, the variable of --store"),
        ("PLANT_STORE_MAX_BODY", "1kB", "serve --max-body=0", "'--max-body <SIZE>'"),
    ] {
        let mut command = binary_in(folder.path());
        command.args(words.split(' ')).env(variable, value).stdout(Stdio::null());
        let (status, said) = failed(&mut command);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

/// A check beside a running server, which it does not disturb.
#[test]
fn serve_check_is_status_0_if_a_server_could_start_and_1_if_not() {
    let starting = Server::starting();
    let authority = Authority::new();
    authority.issue(starting.folder());
    let check = [&["serve", "--check"][..], &TLS].concat();
    let new = run(starting.folder(), &check);
    assert!(new.status.success(), "{}", String::from_utf8_lossy(&new.stderr));
    assert!(String::from_utf8_lossy(&new.stdout).ends_with(" would be created\n"));
    assert!(!starting.folder().join(STORE).exists());
    let said = failure(binary_in(starting.folder()).args(&check).arg("--no-create")).1;
    assert!(said.contains("there is no plant store at "), "{said}");

    let server = starting.with(&TLS).start();
    let used = run(server.folder(), &check);
    assert!(used.status.success(), "{}", String::from_utf8_lossy(&used.stderr));
    assert!(String::from_utf8_lossy(&used.stdout).ends_with(" can be used\n"));
    let _ = authority.issue_valid([-9, -1], server.folder());
    let (status, said) = failed(binary_in(server.folder()).args(&check));
    assert_eq!(status, Some(1), "{said}");
    let last = said.lines().last().expect("a last line");
    assert_eq!(last, format!("plant-store: {CERT}: the certificate has expired"));
    fs::write(server.folder().join(KEY), "plants").expect("the folder takes files");
    let (_, said) = failure(binary_in(server.folder()).args(&check));
    assert!(said.contains("plants.key holds no private key in PEM"), "{said}");
    fs::write(server.folder().join(STORE), "plants").expect("the folder takes files");
    let check = ["serve", "--check"];
    let (_, said) = failure(binary_in(server.folder()).args(check));
    assert!(said.contains("is not a plant store"), "{said}");
}

fn digest(said: &[u8]) -> String {
    let said = String::from_utf8(said.to_vec()).expect("text");
    let (_, digest) = said.trim_end().rsplit_once(", digest: ").expect("a digest at the end");
    assert_eq!(digest.len(), 64, "{said}");
    digest.to_owned()
}

#[test]
fn copy_and_check_print_the_same_digest_until_a_plant_is_changed_in_the_file() {
    let server = Server::start();
    for id in 0..100 {
        server.create(&plant(id, &format!("Ficus {id}"), None)).plant();
    }
    let folder = server.folder();
    let copied = run(folder, &["copy", "--from", server.store(), "--to", "sqlite:copy.db"]);
    let expected = digest(&copied.stdout);
    assert_eq!(digest(&run(folder, &["check"]).stdout), expected);
    let check_copy = ["check", "--store", "sqlite:copy.db"];
    assert_eq!(digest(&run(folder, &check_copy).stdout), expected);
    let json = run(folder, &["check", "--json"]).stdout;
    let report: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(report["digest"], expected);

    let copy = folder.join("copy.db");
    let mut bytes = fs::read(&copy).expect("the copy");
    let name = b"Ficus 77";
    let at = bytes.windows(name.len()).position(|window| window == name).expect("the plant");
    bytes[at + 4] = b'X';
    fs::write(&copy, bytes).expect("the folder takes files");
    let changed = run(folder, &check_copy);
    assert!(changed.status.success(), "its structure is whole");
    assert_ne!(digest(&changed.stdout), expected);
}
