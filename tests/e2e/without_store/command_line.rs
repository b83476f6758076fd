//! The command line: what it accepts, and the one line that refuses anything else.

use std::net::TcpListener;

use nix::sys::signal::Signal;
use plant_store_launcher::Launched;
use plant_store_tests::{Server, binary_in, failure, plant, run};
use tempfile::TempDir;

use crate::database::STORE;

/// Runs the binary with these words in an empty folder, which must stay empty.
fn refused(words: &[&str], variable: Option<(&str, &str)>) -> (Option<i32>, String) {
    let folder = TempDir::new().expect("a temporary folder");
    let failure = failure(binary_in(folder.path()).args(words).envs(variable));
    let left = std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(left, 0, "{words:?} leaves nothing behind");
    failure
}

#[test]
fn wrong_command_line_is_status_2_and_one_line() {
    for (words, expected) in [
        ("plant", "unrecognized subcommand 'plant'"),
        ("serve --plant", "unexpected argument '--plant'"),
        ("serve plants.db", "unexpected argument 'plants.db'"),
        ("serve --listen localhost:0", "invalid value 'localhost:0' for '--listen"),
        ("serve --listen 8080", "expected IP:PORT, such as 127.0.0.1:8080"),
        ("serve --metrics 9464", "expected IP:PORT, such as 127.0.0.1:8080"),
        ("serve --store plants.db", "expected `sqlite:PATH`"),
        ("serve --store sqlite:", "a file that outlives the process"),
        ("serve --store sqlite::memory:", "a file that outlives the process"),
        ("serve --store sqlite:plants.db?mode=ro", "no parameters, and no `?` in its path"),
        ("serve --commit-timeout 10", "invalid value '10' for '--commit-timeout"),
        ("serve --max-body much", "invalid value 'much' for '--max-body"),
        ("serve --store sqlite://plants.db", "expected `sqlite:x.db`, which is relative"),
        ("serve --store sqlite://plants.db", "or `sqlite:/folder/x.db`"),
        ("serve --max-body 0", "'--max-body <SIZE>': expected a size of at least 1B"),
        ("serve --max-bodies 0B", "'--max-bodies <SIZE>': expected a size of at least 1B"),
        ("serve --max-body -1", "'--max-body <SIZE>': expected a size of at least 1B"),
        ("serve --body-timeout 10", "expected a time longer than 0s, such as 10s"),
        ("serve --body-timeout -1s", "expected a time longer than 0s, such as 10s"),
        ("serve --body-timeout 0s", "expected a time longer than 0s, such as 10s"),
        ("serve --idle-timeout 0", "expected a time longer than 0s, such as 10s"),
        ("serve --store-timeout 0s", "expected a time longer than 0s, such as 10s"),
        ("serve --commit-timeout 0s", "expected a time longer than 0s, such as 10s"),
        ("serve --shutdown-timeout 0s", "expected a time longer than 0s, such as 10s"),
        ("token create x --expires-in 0s", "expected a time longer than 0s, such as 10s"),
        ("token create x --expires-in -9d", "expected a time longer than 0s, such as 10s"),
        ("serve --queue 0", "invalid value '0' for '--queue <CREATES>': must be at least 1"),
        ("serve --queue -1", "invalid value '-1' for '--queue <CREATES>': must be at least 1"),
        ("serve --queue 4294967296", "'--queue <CREATES>': must be at most 4294967295"),
        ("serve --queue many", "'--queue <CREATES>': expected a whole number"),
        ("serve --max-connections -5", "must be at least 1"),
        ("serve --max-connections 99999999999", "must be at most 4294967295"),
        ("serve --max-rate 0", "must be at least 1"),
        ("serve --log-strangers -1", "must be at least 0"),
        ("serve --http-threads 0", "must be at least 1"),
        ("serve --http-threads 10000", "must be at most 256"),
        ("serve --shutdown-timeout soon", "invalid value 'soon' for '--shutdown-timeout"),
        ("serve --tls-cert plants.pem", "--tls-key <FILE>"),
        ("serve --tls-key plants.key", "--tls-cert <FILE>"),
        ("serve --log-level loud", "invalid value 'loud' for '--log-level"),
        ("serve --log-format xml", "invalid value 'xml' for '--log-format"),
        ("serve --queue 1 --queue 2", "'--queue <CREATES>' cannot be used multiple times"),
        ("token create", "<NAME>"),
        ("token create é", "letters, digits"),
        ("token create x --expires-in soon", "invalid value 'soon' for '--expires-in"),
        ("token revoke", "<NAME>"),
        ("export --json", "unexpected argument '--json'"),
    ] {
        let words: Vec<_> = words.split(' ').collect();
        let (status, said) = refused(&words, None);
        assert_eq!(status, Some(2), "{words:?}");
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

/// Help that was asked for goes to standard output with status 0. Without a command, the same help
/// goes to standard error with status 2.
#[test]
fn help_and_version_are_status_0() {
    let folder = TempDir::new().expect("a temporary folder");
    for (words, status, expected) in [
        (&["--help"][..], 0, "Usage: plant-store <COMMAND>\n"),
        (&["--help"], 0, "\n  completions  Print completions for a shell\n"),
        (&["help", "serve"], 0, "\n      --listen <ADDRESS>\n"),
        (&["--version"], 0, concat!("plant-store ", env!("CARGO_PKG_VERSION"), "\n")),
        (&[], 2, "Usage: plant-store <COMMAND>\n"),
    ] {
        let output = run(folder.path(), words);
        let (said, other) = match status {
            0 => (output.stdout, output.stderr),
            _ => (output.stderr, output.stdout),
        };
        let said = String::from_utf8(said).expect("help is text");
        assert!(said.contains(expected), "{words:?}: {said}");
        assert_eq!((output.status.code(), &other[..]), (Some(status), &b""[..]), "{words:?}");
    }
}

/// Every flag of `serve` has an environment variable.
#[test]
fn wrong_environment_variable_is_status_2() {
    for (variable, flag) in [
        ("PLANT_STORE_LISTEN", "--listen"),
        ("PLANT_STORE_STORE", "--store"),
        ("PLANT_STORE_METRICS", "--metrics"),
        ("PLANT_STORE_MAX_BODY", "--max-body"),
        ("PLANT_STORE_MAX_BODIES", "--max-bodies"),
        ("PLANT_STORE_BODY_TIMEOUT", "--body-timeout"),
        ("PLANT_STORE_MAX_RATE", "--max-rate"),
        ("PLANT_STORE_QUEUE", "--queue"),
        ("PLANT_STORE_COMMIT_TIMEOUT", "--commit-timeout"),
        ("PLANT_STORE_NO_CREATE", "--no-create"),
        ("PLANT_STORE_SHUTDOWN_TIMEOUT", "--shutdown-timeout"),
        ("PLANT_STORE_LOG_LEVEL", "--log-level"),
        ("PLANT_STORE_LOG_STRANGERS", "--log-strangers"),
        ("PLANT_STORE_LOG_FORMAT", "--log-format"),
    ] {
        let (status, said) = refused(&["serve"], Some((variable, "x")));
        assert_eq!(status, Some(2), "{variable}");
        let expected = format!("plant-store: in {variable}: invalid value 'x' for '{flag}");
        assert!(said.starts_with(&expected), "{variable}: {said}");
    }
}

/// Also if it is not escaped or not quoted for the shell, and if the URL stands in a wrong place.
#[test]
fn password_of_a_store_is_in_no_message() {
    for url in [
        "postgres://ada:secret@db.example",
        "postgres:ada:secret@db.example/plants",
        "postgres://ada:secret/plants",
        "postgres://ada@db.example/plants?password=a&secret=b",
        "postgres://ada:secret@db.example/plants?sslmode=prefer",
        "host=db.example dbname=plants password=secret",
    ] {
        let flag = format!("--{url}");
        let flags: [&[&str]; 9] = [
            &["serve", "--store", url],
            &["copy", "--from", "sqlite:plants.db", "--to", url],
            &["check", url],
            &["serve", "--listen", url],
            &["serve", "--log-level", url],
            &["serve", &flag],
            &["token", "create", url],
            &["token", url],
            &[url],
        ];
        for arguments in flags {
            let (status, said) = refused(arguments, None);
            assert!(status == Some(2) && !said.contains("secret"), "{arguments:?}: {said}");
        }
        for variable in ["PLANT_STORE_STORE", "PLANT_STORE_LISTEN"] {
            let (status, said) = refused(&["serve"], Some((variable, url)));
            assert!(status == Some(2) && !said.contains("secret"), "{said}");
            assert!(said.contains(&format!("in {variable}: invalid value '(hidden")), "{said}");
        }
    }
    for url in ["postgres://ada:secret@db/plants", "postgresql://db/plants?password=secret"] {
        let tls = ["serve", "--tls-cert", url, "--tls-key", url];
        let file = format!("sqlite:{url}");
        let store = ["serve", "--store", &file];
        let token = ["serve", "--first-token", url];
        for arguments in [&tls[..], &store, &token, &["check", "--store", &file]] {
            let (_, said) = refused(arguments, None);
            assert!(said.contains("(hidden") && !said.contains("secret"), "{arguments:?}: {said}");
        }
    }
    let words = ["check", "--store", "postgres://ada:two", "secret", "words@db.example"];
    let (_, said) = refused(&words, None);
    assert!(["two", "secret", "words"].iter().all(|word| !said.contains(word)), "{said}");
    let help = binary_in(&std::env::temp_dir())
        .args(["serve", "--help"])
        .env("PLANT_STORE_STORE", "postgres://ada:secret@db.example/plants")
        .output()
        .expect("the binary starts");
    assert!(!String::from_utf8_lossy(&help.stdout).contains("secret"));
}

#[test]
fn body_limit_past_what_the_store_holds_is_refused() {
    let (status, said) = refused(&["serve", "--max-body", "1GB"], None);
    assert_eq!(status, Some(1));
    assert!(said.contains("--max-body is"), "{said}");
    assert!(said.contains("holds no plant of more than 999999000 bytes"), "{said}");
}

/// A value of a variable is refused in the same words as that of a flag.
#[test]
fn number_that_is_none_in_a_variable_is_refused_with_what_is_allowed() {
    for (variable, value, expected) in [
        ("PLANT_STORE_QUEUE", "many", "expected a whole number"),
        ("PLANT_STORE_QUEUE", "-1", "must be at least 1"),
        ("PLANT_STORE_HTTP_THREADS", "10000", "must be at most 256"),
        ("PLANT_STORE_MAX_BODY", "0", "expected a size of at least 1B"),
        ("PLANT_STORE_IDLE_TIMEOUT", "", "expected a time longer than 0s"),
    ] {
        let (status, said) = refused(&["serve"], Some((variable, value)));
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(&format!("in {variable}: ")) && said.contains(expected), "{said}");
    }
}

#[test]
fn one_address_for_plants_and_metrics_is_refused() {
    let words = ["serve", "--listen", "127.0.0.1:9", "--metrics", "127.0.0.1:9"];
    let (status, said) = refused(&words, None);
    assert_eq!(status, Some(1));
    assert!(said.contains("--metrics and --listen are both 127.0.0.1:9: each needs"), "{said}");
}

#[test]
fn flag_overrides_its_environment_variable() {
    let server = Server::starting()
        .command(|command| {
            command.env("PLANT_STORE_STORE", "sqlite:variable.db");
            command.env("PLANT_STORE_MAX_BODY", "1kB");
            command.env("PLANT_STORE_BODY_TIMEOUT", "1m 30s");
        })
        .with(&["--max-body", "30"])
        .start();
    let (error, message) = server.create(&plant(1, "Monstera deliciosa", None)).refusal();
    assert_eq!(error, 413, "{message}");
    server.create(&plant(1, "Ficus", None)).plant();
    assert!(server.folder().join("variable.db").exists());
    assert!(!server.folder().join(STORE).exists());
}

#[test]
fn largest_values_of_every_limit_are_accepted() {
    let mut server = Server::starting()
        .with(&["--max-body", "999MB", "--max-bodies", "15EiB", "--queue", "4294967295"])
        .with(&["--body-timeout", "580000000000y", "--shutdown-timeout", "580000000000y"])
        .start();
    server.create(&plant(1, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
}

/// The printed command names an address that a client on this machine can reach: 127.0.0.1 for
/// 0.0.0.0.
#[test]
fn server_listens_on_the_address_given() {
    let mut addresses = vec![("127.0.0.2:0", "127.0.0.2"), ("0.0.0.0:0", "127.0.0.1")];
    // Some machines have no IPv6.
    if TcpListener::bind("[::1]:0").is_ok() {
        addresses.push(("[::]:0", "[::1]"));
    }
    for (address, client) in addresses {
        let server = Server::starting().with(&["--listen", address]).start();
        let (ip, _) = address.rsplit_once(':').expect("an address and a port");
        assert_eq!(server.address.to_string().rsplit_once(':').map(|(ip, _)| ip), Some(ip));
        let curl = server.first_request.as_deref().expect("a new store");
        let url = format!("curl http://{client}:{}/plants ", server.address.port());
        assert!(curl.starts_with(&url), "{curl}");
    }
}

#[test]
fn address_in_use_is_refused_and_leaves_no_store() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = other.local_addr().expect("an address").to_string();
    for (words, variable) in [
        (vec!["serve", "--listen", &address], None),
        (vec!["serve"], Some(("PLANT_STORE_LISTEN", address.as_str()))),
    ] {
        let (status, said) = refused(&words, variable);
        assert_eq!(status, Some(1));
        assert!(said.contains(&format!("cannot listen on {address}: ")), "{said}");
    }
}

/// So the tests run while a server of somebody else runs with its defaults, in the same checkout.
#[test]
fn servers_of_tests_use_no_default_port_and_no_file_outside_their_folders() {
    let folders = [(); 2].map(|()| TempDir::new().expect("a temporary folder"));
    let servers = folders.each_ref().map(|folder| {
        let server = Launched::start(binary_in(folder.path()).arg("serve"));
        server.expect("the address and the store are not in use")
    });
    for (server, folder) in servers.iter().zip(&folders) {
        assert_ne!(server.address.port(), 8080);
        assert!(folder.path().join(STORE).exists());
    }
}
