//! The command line and its environment variables: what they accept, what they refuse, and what no
//! message may contain.

use std::process::Command;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, binary_in, plant, refusal, root, run};
use tempfile::TempDir;

use crate::database::STORE;
use crate::without_store::starts::record_of;

/// Runs the binary with these arguments in an empty folder, which must stay empty. Returns the exit
/// code and stderr.
pub fn refused(words: &[&str], variable: Option<(&str, &str)>) -> (Option<i32>, String) {
    let folder = TempDir::new().expect("a temporary folder");
    let refused = refusal(binary_in(folder.path()).args(words).envs(variable));
    let left = std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(left, 0, "{words:?} leaves nothing behind");
    refused
}

#[test]
fn wrong_command_line_exits_2_and_leaves_nothing() {
    for words in [
        "",
        "plant",
        "serve --plant",
        "serve --tls-cert plants.pem",
        "serve --tls-key plants.key",
        "token create",
        "token revoke",
    ] {
        let (status, stderr) = refused(&words.split_terminator(' ').collect::<Vec<_>>(), None);
        assert!(status == Some(2) && !stderr.is_empty(), "{words}: {stderr}");
    }
    for words in [
        "serve --listen 8080",
        "serve --listen plants.invalid:80",
        "serve --metrics 8080",
        "serve --store plants.db",
        "serve --store sqlite::memory:",
        "serve --store sqlite:plants.db?mode=ro",
        "serve --store sqlite://plants.db",
        "check --store postgres://db/plants?sslmode=verify-full",
        "serve --first-token token",
        "serve --max-creates 0",
        "serve --max-creates 99999999999",
        "serve --http-threads 0",
        "serve --http-threads 10000",
        "serve --max-body 2GiB",
        "serve --body-timeout 10",
        "serve --body-timeout 0s",
        "serve --store-timeout 0s",
        "serve --store-timeout 500000000000y",
        "serve --log-level loud",
        "token create x --expires-in tomorrow",
        "token create é",
    ] {
        let (status, stderr) = refused(&words.split(' ').collect::<Vec<_>>(), None);
        assert!(status == Some(2) && stderr.contains("invalid value"), "{words}: {stderr}");
    }
}

/// Returns the abbreviated commit of the checkout, or an empty string if the sources are not a
/// checkout. A binary that is built from a checkout with changes appends `-dirty`.
pub fn commit() -> String {
    let mut git = Command::new("git");
    let output = git.args(["rev-parse", "--short=12", "HEAD"]).current_dir(root()).output();
    let printed = output.expect("git starts").stdout;
    String::from_utf8(printed).expect("text").trim_end().to_owned()
}

#[test]
fn help_and_version_are_on_stdout() {
    let folder = TempDir::new().expect("a temporary folder");
    for words in [&["--help"][..], &["help", "serve"], &["--version"]] {
        let output = run(folder.path(), words);
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}");
        assert!(!output.stdout.is_empty(), "{words:?}");
    }
    let version = run(folder.path(), &["--version"]).stdout;
    assert!(String::from_utf8_lossy(&version).contains(&commit()));
}

#[test]
fn messages_contain_no_password_and_no_token() {
    for url in [
        "postgres:ada:secret@db.example/plants",
        "postgres://ada:secret/plants",
        "postgres://ada@db.example/plants?password=a&secret=b",
        "host=db.example dbname=plants password=secret",
    ] {
        let flags: [&[&str]; 4] = [
            &["copy", "--from", "sqlite:x.db", "--to", "sqlite:y.db", "--tokens", url],
            &["serve", "--store", url],
            &["copy", "--from", "sqlite:plants.db", "--to", url, "--tokens", "none"],
            &["check", "--store", url],
        ];
        let variable = Some(("PLANT_STORE_STORE", url));
        let results = flags.map(|flags| refused(flags, None));
        for (status, stderr) in results.into_iter().chain([refused(&["serve"], variable)]) {
            assert!(status == Some(2) && !stderr.contains("secret"), "{stderr}");
        }
    }
    for words in ["token pst_secret", "token list pst_secret", "serve --listen pst_secret"] {
        let (status, stderr) = refused(&words.split(' ').collect::<Vec<_>>(), None);
        assert!(status == Some(2) && !stderr.contains("secret"), "{stderr}");
    }
    let help = binary_in(&std::env::temp_dir())
        .args(["serve", "--help"])
        .env("PLANT_STORE_STORE", "postgres://ada:secret@db.example/plants")
        .output()
        .expect("the binary starts");
    assert!(!String::from_utf8_lossy(&help.stdout).contains("secret"));
}

/// An empty variable counts as unset: a line of `plant-store.env` without a value sets it.
#[test]
fn flag_overrides_its_environment_variable() {
    let ficus = plant(1, "Ficus", None);
    let server = Server::starting()
        .command(|command| {
            command.env("PLANT_STORE_STORE", "sqlite:variable.db");
            command.env("PLANT_STORE_MAX_BODY", "1kB");
            command.env("PLANT_STORE_BODY_TIMEOUT", "1m 30s");
            for name in ["STORE_CA", "MAX_CREATES", "METRICS", "NO_CREATE", "TLS_CERT"] {
                command.env(format!("PLANT_STORE_{name}"), "");
            }
        })
        .with(&["--max-body", &ficus.len().to_string()])
        .start();
    assert_eq!(server.create(&plant(1, "Monstera deliciosa", None)).error(), 413);
    server.create(&ficus).plant();
    assert!(server.folder().join("variable.db").exists());
    assert!(!server.folder().join(STORE).exists());
    let limits = record_of(&server, |record| record["max_creates"].is_number());
    assert_eq!((&limits["max_creates"], &limits["body_timeout"]), (&1024.into(), &"1m 30s".into()));
}

#[test]
fn unknown_variables_are_a_warning_unless_kubernetes_sets_them() {
    let server = Server::starting()
        .command(|command| {
            for name in [
                "MAX_CREATES",
                "SERVICE_HOST",
                "SERVICE_PORT",
                "SERVICE_PORT_HTTP",
                "PORT",
                "PORT_8080_TCP",
                "PORT_8080_TCP_ADDR",
                "BLUE_SERVICE_HOST",
                "TLS_CERTS",
                "X",
            ] {
                command.env(format!("PLANT_STORE_{name}"), "16");
            }
        })
        .start();
    let warning = record_of(&server, |record| record["variables"].is_string());
    assert_eq!(warning["level"], "warning");
    assert_eq!(warning["variables"], "PLANT_STORE_TLS_CERTS, PLANT_STORE_X");
}

#[test]
fn maximum_of_every_limit_is_accepted() {
    let mut server = Server::starting()
        .with(&["--max-body", "999MB", "--max-creates", "4294967295", "--store-timeout", "1y"])
        .with(&["--body-timeout", "1y", "--shutdown-timeout", "580000000000y"])
        .start();
    server.create(&plant(1, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
}
