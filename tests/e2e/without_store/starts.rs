//! Starts that fail, and when a token is issued.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use nix::unistd::geteuid;
use plant_store_tests::prelude::*;
use plant_store_tests::process::{Process, send};
use plant_store_tests::tls::{Authority, KEY};

/// Runs the binary with these words and variables in an empty folder, which must stay empty. The
/// command must print nothing and exit with this code. Returns stderr.
pub fn refused(words: &str, variables: &[(&str, &str)], code: i32) -> String {
    let folder = TempDir::new().expect("a temporary folder");
    let ended = run(binary_in(folder.path(), words).envs(variables.iter().copied()));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{ended:?}");
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0, "nothing is left");
    ended.stderr
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
    let redirected = |words: &str, redirection: &str| {
        let command = binary_in(folder.path(), words);
        in_shell(&format!("exec \"$0\" \"$@\" {redirection}"), &command)
    };
    let mut lost = behind(&["timeout", "60"], &redirected("serve", "> /dev/full"));
    assert_eq!(run(&mut lost).code, Some(1));
    assert_eq!(tokens(folder.path()), "[]");
    // The address is lost, but the service works without this line.
    let mut serve = redirected("serve --first-token none", "> /dev/full 2> log");
    let process = Process::start(&mut serve);
    let log = folder.path().join("log");
    let listens = || fs::read_to_string(&log).is_ok_and(|log| log.contains("\"listening\""));
    wait_until(listens, || "it does not listen".to_owned());
    send(Signal::SIGTERM, &process);
    assert_eq!(process.end().code, Some(0));
    let table = [("token create ci", "> /dev/full"), ("check", "> /dev/full")];
    each_row(table, |(words, redirection)| {
        assert_eq!(run(&mut redirected(words, redirection)).code, Some(1));
        assert_eq!(tokens(folder.path()), "[]");
    });
}
