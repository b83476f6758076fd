//! The command line and its environment variables: what they accept, what they refuse, starts that
//! fail, and what no message may contain.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use nix::unistd::geteuid;
use plant_store_tests::prelude::*;
use plant_store_tests::process::{Process, send};
use plant_store_tests::tls::{Authority, KEY};

use super::commit;
use crate::database::STORE;

/// Runs the binary with these words and variables in an empty folder, which must stay empty. The
/// command must print nothing and exit with this code. Returns stderr.
fn refused(words: &str, variables: &[(&str, &str)], code: i32) -> String {
    let folder = TempDir::new().expect("a temporary folder");
    let ended = run(binary_in(folder.path(), words).envs(variables.iter().copied()));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{ended:?}");
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0, "nothing is left");
    ended.stderr
}

/// A message names the flag, if there is one.
#[test]
fn wrong_command_line_exits_2_and_leaves_nothing() {
    let table = [
        "",
        "plant",
        "serve --plant",
        "serve --tls-cert plants.pem",
        "serve --tls-key plants.key",
        "serve --listen 8080",
        "serve --metrics 8080",
        "serve --store plants.db",
        "serve --store sqlite::memory:",
        "serve --store sqlite:plants.db?mode=ro",
        "serve --max-creates 0",
        "serve --max-body 0B",
        "serve --max-body 129MiB",
        "serve --body-timeout 0s",
        "serve --log-level loud",
        "check --store postgres://db/plants?sslmode=verify-full",
        "token create x --expires-in tomorrow",
        "token create é",
        "token revoke",
    ];
    each_row(table, |words| {
        let stderr = refused(words, &[], 2);
        let flag = words.split(' ').find(|word| word.starts_with("--")).unwrap_or_default();
        assert!(!stderr.is_empty() && stderr.contains(flag), "{stderr}");
    });
}

/// The drift check compares what `openapi` prints.
#[test]
fn version_names_the_commit() {
    let folder = TempDir::new().expect("a temporary folder");
    let printed = run(&mut binary_in(folder.path(), "--version")).succeeded();
    assert!(printed.contains(&commit()), "{printed}");
}

#[test]
fn messages_contain_no_password_and_no_token() {
    let urls = [
        "postgres:ada:secret@db.example/plants",
        "postgres://ada:secret/plants",
        "postgres://ada@db.example/plants?password=a&secret=b",
        "secret-host=db.example",
    ];
    let rows = urls.iter().flat_map(|url| {
        [
            (format!("copy --from sqlite:x.db --to sqlite:y.db --tokens {url}"), ""),
            (format!("copy --from sqlite:plants.db --to {url} --tokens none"), ""),
            (format!("serve --store {url}"), ""),
            ("serve".to_owned(), *url),
        ]
    });
    let pasted = ["token pst_secret", "token list pst_secret", "serve --listen pst_secret"];
    let pasted = pasted.map(|words| (words.to_owned(), ""));
    each_row(rows.chain(pasted), |(words, variable)| {
        let stderr = refused(&words, &[("PLANT_STORE_STORE", variable)], 2);
        assert!(!stderr.contains("secret"), "{stderr}");
    });
    let mut help = binary_in(&std::env::temp_dir(), "serve --help");
    help.env("PLANT_STORE_STORE", "postgres://ada:secret@db/plants");
    assert!(!run(&mut help).succeeded().contains("secret"));
}

/// An empty variable counts as unset: a line of `plant-store.env` without a value sets it. The
/// limits in force are logged. The soft limit of open files is raised.
#[test]
fn flag_overrides_its_environment_variable() {
    let ficus = plant(1, "Ficus", None);
    let variables = [
        ("STORE", "sqlite:variable.db"),
        ("MAX_BODY", "1kB"),
        ("BODY_TIMEOUT", "1m 30s"),
        ("STORE_CA", ""),
        ("MAX_CREATES", ""),
        ("METRICS", ""),
        ("NO_CREATE", ""),
        ("TLS_CERT", ""),
    ];
    let server = Server::starting()
        .command(|command| {
            command.envs(variables.map(|(name, value)| (format!("PLANT_STORE_{name}"), value)));
        })
        .with(&["--max-body", &ficus.len().to_string()])
        .with_open_files("-Sn 64")
        .start();
    assert_eq!(server.create(&plant(1, "Monstera deliciosa", None)).error(), 413);
    server.create(&ficus).plant();
    assert!(server.folder().join("variable.db").exists());
    assert!(!server.folder().join(STORE).exists());
    let limits = server.record(|record| record["max_creates"].is_number());
    assert_eq!((&limits["max_creates"], &limits["max_body"]), (&1024.into(), &ficus.len().into()));
    for (name, expected) in
        [("body_timeout", "1m 30s"), ("store_timeout", "5s"), ("shutdown_timeout", "10s")]
    {
        assert_eq!(limits[name], expected);
    }
    // The hard limit depends on the user who runs the tests.
    assert!(limits["open_files"].as_u64() > Some(64), "{limits}");
}

/// Returns a command that runs the binary in a folder, without the capabilities of root. Even if
/// root runs the tests, the permissions of files apply to it.
pub fn unprivileged(folder: &Path, words: &str) -> Command {
    let command = binary_in(folder, words);
    if geteuid().is_root() {
        behind(&["setpriv", "--bounding-set=-all"], &command)
    } else {
        command
    }
}

/// The message names what cannot be used.
#[test]
fn bad_start_exits_1_and_leaves_no_store() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = other.local_addr().expect("an address").to_string();
    let table = [
        (&*format!("serve --listen {taken}"), &*taken),
        (&format!("serve --metrics {taken}"), &taken),
        ("token list", "plant-store.db"),
        ("export --store sqlite:/no/x.db", "/no/x.db"),
    ];
    each_row(table, |(words, named)| {
        let stderr = refused(words, &[], 1);
        assert!(stderr.contains(named) && stderr.lines().count() == 1, "{stderr}");
    });

    let folder = TempDir::new().expect("a temporary folder");
    Authority::new().issue(folder.path());
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the file is ours");
    };
    set_mode(&folder.path().join(KEY), 0o000);
    set_mode(folder.path(), 0o555);
    let table = [
        ("serve --listen 127.0.0.1:80", "127.0.0.1:80"),
        ("serve --tls-cert plants.pem --tls-key plants.key", KEY),
        ("serve", "folder"),
    ];
    each_row(table, |(words, named)| {
        run(&mut unprivileged(folder.path(), words)).failed(1, named);
    });
    set_mode(folder.path(), 0o755);
}

/// Returns the tokens of the store in this folder, as JSON. Returns nothing if there is no store.
pub fn tokens(folder: &Path) -> String {
    run(&mut binary_in(folder, "token list --json")).stdout.trim().to_owned()
}

/// Nobody would see the token. Other commands fail, too, if their output is lost.
#[test]
fn token_that_cannot_be_printed_is_not_issued() {
    let folder = TempDir::new().expect("a temporary folder");
    let unprinted = |words: &str| to_full_device(&binary_in(folder.path(), words));
    let mut lost = behind(&["timeout", "60"], &unprinted("serve"));
    assert_eq!(run(&mut lost).code, Some(1));
    assert_eq!(tokens(folder.path()), "[]");
    // The address is lost, but the service works without this line.
    let log = folder.path().join("log");
    let mut serve = unprinted("serve --first-token none");
    let process = Process::start(serve.stderr(File::create(&log).expect("a log")));
    let listens = || fs::read_to_string(&log).is_ok_and(|log| log.contains("\"listening\""));
    wait_until(listens, || "it does not listen".to_owned());
    send(Signal::SIGTERM, &process);
    assert_eq!(process.end().code, Some(0));
    each_row(["token create ci", "check"], |words| {
        assert_eq!(run(&mut unprinted(words)).code, Some(1));
        assert_eq!(tokens(folder.path()), "[]");
    });
}
