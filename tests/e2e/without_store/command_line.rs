//! The command line: what it accepts and what it rejects.

use std::net::TcpListener;
use std::process::Command;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, binary_in, plant, root, run};
use tempfile::TempDir;

use crate::database::STORE;

/// Runs the binary with these arguments in an empty folder, which must stay empty. Returns the exit
/// code and stderr.
fn refused(words: &[&str], variable: Option<(&str, &str)>) -> (Option<i32>, String) {
    let folder = TempDir::new().expect("a temporary folder");
    let output = binary_in(folder.path()).args(words).envs(variable).output();
    let output = output.expect("the binary starts");
    let left = std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!((left, &output.stdout[..]), (0, &b""[..]), "{words:?} leaves nothing behind");
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

#[test]
fn wrong_command_line_exits_with_code_2_and_a_reason() {
    for (words, expected) in [
        ("plant", "unrecognized subcommand 'plant'"),
        ("serve --plant", "unexpected argument '--plant'"),
        ("serve --listen 8080", "expected an address and a port, such as 127.0.0.1:8080"),
        ("serve --store plants.db", "'--store <URL>': expected `sqlite:PATH`, such as `sqlite:/"),
        ("serve --store sqlite::memory:", "the path must name a persistent file"),
        ("serve --store sqlite:plants.db?mode=ro", "without parameters and without a `?`"),
        ("serve --store sqlite://plants.db", "expected `sqlite:x.db`, which is relative"),
        ("copy --from plants.db --to sqlite:x.db", "'--from <URL>': expected `sqlite:PATH`"),
        ("check --store postgres://db/plants?sslmode=verify-full", "`sslmode` must be `require`"),
        ("serve --first-token token", "invalid value 'token' for '--first-token"),
        ("serve --body-timeout 10", "time unit needed, for example 10sec or 10ms"),
        ("token create x --expires-in tomorrow", "invalid value 'tomorrow' for '--expires-in"),
        ("serve --listen plants.invalid:80", "invalid value 'plants.invalid:80' for '--listen"),
        ("serve --max-creates 0", "'--max-creates <CREATES>': 0 is not in 1.."),
        ("serve --max-creates 99999999999", "invalid value '99999999999'"),
        ("serve --http-threads 10000", "10000 is not in 1..=256"),
        ("serve --tls-cert plants.pem", "--tls-key <FILE>"),
        ("serve --tls-key plants.key", "--tls-cert <FILE>"),
        ("serve --log-level loud", "invalid value 'loud' for '--log-level"),
        ("serve --max-body 1", "the minimum is 2 B"),
        ("serve --max-body 2GiB", "the maximum is 1.0 GiB"),
        ("serve --body-timeout 0s", "the minimum is 1ms"),
        ("serve --store-timeout 0s", "the minimum is 1ms"),
        ("serve --store-timeout 500000000000y", "the maximum is 1y"),
        ("token create é", "letters, digits"),
        ("token revoke", "<NAME>"),
    ] {
        let words: Vec<_> = words.split(' ').collect();
        let (status, stderr) = refused(&words, None);
        assert_eq!(status, Some(2), "{words:?}");
        assert!(stderr.contains(expected), "{words:?}: {stderr}");
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

/// If help is requested, it is written to stdout, and the exit code is 0. Without a command, the
/// same help is written to stderr, and the exit code is 2.
#[test]
fn help_and_version_exit_with_code_0() {
    let folder = TempDir::new().expect("a temporary folder");
    let commit = commit();
    let of_commit = if commit.is_empty() { String::new() } else { format!(" ({commit}") };
    let version = format!("plant-store {}{of_commit}", env!("CARGO_PKG_VERSION"));
    for (words, status, expected) in [
        (&["--help"][..], 0, "Usage: plant-store <COMMAND>\n"),
        (&["--help"], 0, "\n  completions  Print completions for a shell\n"),
        (&["help", "serve"], 0, "\n      --listen <ADDRESS>\n"),
        (&["--version"], 0, &version),
        (&[], 2, "Usage: plant-store <COMMAND>\n"),
    ] {
        let output = run(folder.path(), words);
        let (help, other) = if status == 0 {
            (output.stdout, output.stderr)
        } else {
            (output.stderr, output.stdout)
        };
        let help = String::from_utf8(help).expect("help is text");
        assert!(help.contains(expected), "{words:?}: {help}");
        assert_eq!((output.status.code(), &other[..]), (Some(status), &b""[..]), "{words:?}");
    }
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
        assert!(
            status == Some(2) && stderr.contains('…') && !stderr.contains("secret"),
            "{stderr}"
        );
    }
    let help = binary_in(&std::env::temp_dir())
        .args(["serve", "--help"])
        .env("PLANT_STORE_STORE", "postgres://ada:secret@db.example/plants")
        .output()
        .expect("the binary starts");
    assert!(!String::from_utf8_lossy(&help.stdout).contains("secret"));
}

#[test]
fn flag_overrides_its_environment_variable() {
    let ficus = plant(1, "Ficus", None);
    let server = Server::starting()
        .command(|command| {
            command.env("PLANT_STORE_STORE", "sqlite:variable.db");
            command.env("PLANT_STORE_MAX_BODY", "1kB");
            command.env("PLANT_STORE_BODY_TIMEOUT", "1m 30s");
        })
        .with(&["--max-body", &ficus.len().to_string()])
        .start();
    let (error, message) = server.create(&plant(1, "Monstera deliciosa", None)).refusal();
    assert_eq!(error, 413, "{message}");
    server.create(&ficus).plant();
    assert!(server.folder().join("variable.db").exists());
    assert!(!server.folder().join(STORE).exists());
}

#[test]
fn maximum_of_every_limit_is_accepted() {
    let mut server = Server::starting()
        .with(&["--max-body", "999MB", "--max-creates", "4294967295"])
        .with(&["--body-timeout", "580000000000y", "--shutdown-timeout", "580000000000y"])
        .start();
    server.create(&plant(1, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
}

/// The printed command contains an address that a client on this machine can reach: 127.0.0.1
/// instead of 0.0.0.0.
#[test]
fn server_listens_on_the_given_address() {
    let mut addresses = vec![("127.0.0.2:0", "127.0.0.2"), ("0.0.0.0:0", "127.0.0.1")];
    addresses.push(("localhost:0", "127.0.0.1"));
    // Some machines have no IPv6.
    if TcpListener::bind("[::1]:0").is_ok() {
        addresses.push(("[::]:0", "[::1]"));
    }
    for (address, client) in addresses {
        let server = Server::starting().with(&["--listen", address]).start();
        let address = address.replace("localhost", "127.0.0.1");
        let (ip, _) = address.rsplit_once(':').expect("an address and a port");
        assert_eq!(server.address.to_string().rsplit_once(':').map(|(ip, _)| ip), Some(ip));
        let curl = server.first_request.as_deref().expect("a new store");
        let url = format!("curl http://{client}:{}/plants ", server.address.port());
        assert!(curl.starts_with(&url), "{curl}");
    }
}

#[test]
fn address_in_use_is_reported_and_leaves_no_store() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = other.local_addr().expect("an address").to_string();
    for (words, variable) in [
        (vec!["serve", "--listen", &address], None),
        (vec!["serve"], Some(("PLANT_STORE_LISTEN", address.as_str()))),
    ] {
        let (status, stderr) = refused(&words, variable);
        assert_eq!(status, Some(1));
        let expected = "Address already in use (os error 98): stop the program that listens there";
        assert!(stderr.contains(&format!("cannot listen on {address}: {expected}")), "{stderr}");
        assert!(stderr.contains("--listen"), "{stderr}");
    }
}
