//! `serve --check`: whether a server can start, without starting one. And the unit of systemd,
//! which uses it.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use plant_store_tests::tls::{Authority, CERT, KEY, TLS};
use plant_store_tests::{Engine, Server, binary_in, failure, plant, run};
use tempfile::TempDir;
use xtask::checkout::root;

use super::words::unprivileged;
use crate::operators::files;

/// The status, and what is said on standard error.
fn failed(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command.output().expect("it starts");
    (status.code(), String::from_utf8(stderr).expect("text"))
}

/// What `serve --check` with these flags prints, if its status is 0.
fn checked(folder: &Path, flags: &[&str]) -> String {
    let output = run(folder, &[&["serve", "--check"], flags].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn serve_check_is_status_0_if_a_server_can_start_and_makes_no_store() {
    let starting = Server::starting();
    let authority = Authority::new();
    authority.issue(starting.folder());
    let folder = starting.folder().to_owned();
    let before = files(&folder);
    assert!(checked(&folder, &TLS).contains(" would be created"));
    assert_eq!(files(&folder), before);
    let said = failure(binary_in(&folder).args(["serve", "--check", "--no-create"])).1;
    assert!(said.contains("there is no plant store at "), "{said}");

    let stopped = starting.with(&TLS).start().stopped_by(Signal::SIGTERM);
    assert!(checked(&folder, &TLS).contains(" can be used"));
    let server = stopped.start();
    server.client();
    let _ = authority.issue_valid([-9, -1], &folder);
    for check in ["--check", "--check=tls"] {
        let (status, said) = failed(binary_in(&folder).args(["serve", check]).args(TLS));
        assert_eq!(status, Some(1), "{said}");
        let last = said.lines().last().expect("a last line");
        assert_eq!(last, format!("plant-store: {CERT}: the certificate has expired"));
    }
}

/// `serve` refuses with the same words.
#[test]
fn serve_check_is_status_1_where_serve_is() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    Authority::new().issue(path);
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    };
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let taken = taken.local_addr().map(|address| (address.to_string(), taken)).expect("an address");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port is free").local_addr();
    let free = free.expect("an address").to_string();
    set_mode(&path.join(KEY), 0o000);
    set_mode(path, 0o555);
    for (flags, expected) in [
        (&["--listen", &*free, "--metrics", &*free][..], "Address already in use"),
        (&["--listen", &*taken.0], "Address already in use"),
        (&["--metrics", &*taken.0], "Address already in use"),
        (&TLS, "cannot read plants.key: Permission denied"),
        (&[], "cannot write to the folder"),
    ] {
        if flags.contains(&"--listen") || flags.contains(&"--metrics") {
            set_mode(path, 0o755);
        }
        for words in [&["serve"][..], &["serve", "--check"]] {
            let mut command = unprivileged(path);
            let (status, said) = failed(command.args(words).args(flags));
            assert_eq!(status, Some(1), "{words:?} {flags:?}: {said}");
            let last = said.lines().last().expect("a last line");
            assert!(last.contains(expected), "{words:?} {flags:?}: {last}");
        }
        set_mode(path, 0o555);
    }
    set_mode(path, 0o755);
}

#[test]
fn serve_check_beside_a_server_on_the_same_file_says_what_it_has_not_tried() {
    let server = Server::start();
    let listen = ["--listen", &server.address.to_string()];
    if Engine::of_this_run() == Engine::Sqlite {
        let said = checked(server.folder(), &listen);
        assert!(said.contains("not tried: the addresses and the store"), "{said}");
    } else {
        let (_, said) = failed(binary_in(server.folder()).args(["serve", "--check"]).args(listen));
        assert!(said.contains("Address already in use"), "{said}");
    }
    server.create(&plant(1, "Ficus", None)).plant();
}

/// The variables and the commands of the unit.
fn unit() -> String {
    fs::read_to_string(root().join("server/deploy/plant-store.service")).expect("the unit is there")
}

/// The unit of systemd runs the check before it tells the server to read the files of TLS again.
#[test]
fn check_of_the_units_reload_needs_neither_the_addresses_nor_the_store() {
    let unit = unit();
    let settings = unit.lines().filter_map(|line| line.strip_prefix("Environment="));
    let variables = settings.map(|setting| setting.split_once('=').expect("a name and a value"));
    let reload = unit.lines().find_map(|line| line.strip_prefix("ExecReload=")).expect("a command");
    let words: Vec<_> = reload.split(' ').skip(1).collect();
    let server = Server::start();
    Authority::new().issue(server.folder());
    let mut check = binary_in(server.folder());
    check.args(words).args(TLS).envs(variables);
    check.env("PLANT_STORE_LISTEN", server.address.to_string());
    check.env("PLANT_STORE_STORE", "postgres://nobody@127.0.0.1:1/plants");
    let Output { status, stderr, .. } = check.output().expect("it starts");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
}

/// A long WAL or a late database must not end the start, nor a flood the records of creates.
#[test]
fn unit_limits_neither_the_time_of_a_start_nor_the_records_in_the_journal() {
    let unit = unit();
    for setting in ["TimeoutStartSec=infinity", "LogRateLimitIntervalSec=0"] {
        assert!(unit.lines().any(|line| line == setting), "{setting}");
    }
}
