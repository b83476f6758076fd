//! `serve --check`: whether a server could start, without starting one.

use std::fs;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use plant_store_tests::tls::{Authority, CERT, TLS};
use plant_store_tests::{Server, binary_in, failure, plant, run};
use xtask::checkout::root;

use crate::database::STORE;
use crate::metrics::metrics_address;

/// The status, and what is said on standard error.
fn failed(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command.output().expect("it starts");
    (status.code(), String::from_utf8(stderr).expect("text"))
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
}

/// The unit of systemd runs the check before it tells the server to read the files of TLS again.
#[test]
fn serve_check_is_status_0_beside_a_server_with_the_same_addresses_and_the_settings_of_the_unit() {
    let unit = fs::read_to_string(root().join("server/deploy/plant-store.service"))
        .expect("the unit is there");
    let settings = unit.lines().filter_map(|line| line.strip_prefix("Environment="));
    let pairs = settings.map(|setting| setting.split_once('=').expect("a name and a value"));
    let variables: Vec<_> = pairs.collect();
    assert!(variables.contains(&("PLANT_STORE_NO_CREATE", "true")), "{variables:?}");
    let reload = unit.lines().find_map(|line| line.strip_prefix("ExecReload=")).expect("a command");
    let words: Vec<_> = reload.split(' ').skip(1).collect();

    let server = Server::start().stopped_by(Signal::SIGTERM).command(|command| {
        command.envs(variables.iter().copied()).env("PLANT_STORE_METRICS", "127.0.0.1:0");
    });
    let server = server.start();
    let mut check = binary_in(server.folder());
    check.args(words).envs(variables);
    check.env("PLANT_STORE_LISTEN", server.address.to_string());
    check.env("PLANT_STORE_METRICS", metrics_address(&server).to_string());
    let Output { status, stdout, stderr } = check.output().expect("it starts");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    assert!(String::from_utf8_lossy(&stdout).ends_with(" can be used\n"));
    server.create(&plant(1, "Ficus", None)).plant();
}
