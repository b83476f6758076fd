//! How the commands reach the service: the token, certificates, and proxies in the environment.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use nix::unistd::{Uid, chown, geteuid};
use plant_store_tests::Server;
use plant_store_tests::tls::{Authority, TLS};

use super::{plants, run, write};

const CHECK: &str = "check-token";
const ACCEPTED: &str = "{\"accepted\":true}\n";

/// A user who is not root.
const NOBODY: Uid = Uid::from_raw(65534);

/// Writes a token to a file that belongs to root or to [`NOBODY`].
fn token_file(server: &Server, token: &str, mode: u32, is_owned_by_root: bool) {
    write(server, "token", format!("{token}\n"));
    let path = server.folder().join("token");
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
    if geteuid().is_root() {
        let owner = if is_owned_by_root { Uid::from_raw(0) } else { NOBODY };
        chown(&path, Some(owner), None).expect("root may change the owner");
    }
}

#[test]
fn private_authority_is_trusted() {
    let authority = Authority::new();
    let starting = Server::starting();
    authority.issue(starting.folder());
    let server = starting.with(&TLS).start();
    write(&server, "ca.pem", authority.pem());
    write(&server, "stranger.pem", Authority::new().pem());
    write(&server, "words", "Bearer token");
    run(&mut plants(&server, &[CHECK, "--ca-file", "ca.pem"])).expect(0, ACCEPTED, "");
    let mut by_variable = plants(&server, &[CHECK]);
    run(by_variable.env("PLANTS_CA_FILE", "ca.pem")).expect(0, ACCEPTED, "");
    let stranger = [CHECK, "--ca-file", "stranger.pem"];
    run(&mut plants(&server, &stranger)).expect(1, "", "certificate");
    for file in ["words", "none"] {
        run(&mut plants(&server, &[CHECK, "--ca-file", file])).expect(2, "", "(--ca-file)");
    }
}

/// A flag wins over a variable, and an empty variable counts as unset.
#[test]
fn token_comes_from_one_flag_or_variable() {
    let server = Server::start();
    token_file(&server, &server.token, 0o600, false);
    let both = ["--token-file", "token", "--token", &server.token];
    for (flags, variables, exit_code, expected) in [
        (&both[..2], [("PLANTS_TOKEN", "pst_"), ("PLANTS_TOKEN_FILE", "")], 0, ""),
        (&both[2..], [("PLANTS_TOKEN", ""), ("PLANTS_TOKEN_FILE", "none")], 0, ""),
        (&[], [("PLANTS_TOKEN", ""), ("PLANTS_TOKEN_FILE", "token")], 0, ""),
        (&[], [("PLANTS_URL", ""), ("PLANTS_TOKEN", "a b")], 2, "--token or PLANTS_TOKEN"),
        (&[], [("PLANTS_TOKEN", "pst_"), ("PLANTS_TOKEN_FILE", "token")], 2, "two tokens"),
        (&both, [("PLANTS_TOKEN", ""), ("PLANTS_TOKEN_FILE", "")], 2, "two tokens"),
        (&["--token", ""], [("PLANTS_TOKEN", ""), ("PLANTS_TOKEN_FILE", "")], 2, "is empty"),
        (&["--token-file", "none"], [("PLANTS_TOKEN", ""), ("PLANTS_URL", "")], 2, "use none ("),
    ] {
        let mut command = plants(&server, &[&[CHECK], flags].concat());
        let finished = run(command.envs(variables));
        finished.expect(exit_code, if exit_code == 0 { ACCEPTED } else { "" }, expected);
        assert!(!finished.stderr.contains(&server.token), "{finished:?}");
    }
}

#[test]
fn token_file_readable_by_others_must_belong_to_root() {
    let server = Server::start();
    let check = [CHECK, "--token-file", "token"];
    for mode in [0o640, 0o604, 0o444] {
        token_file(&server, &server.token, mode, false);
        let refused = run(&mut plants(&server, &check));
        refused.expect(2, "", "other users can read it: run chmod 600 on it");
        if geteuid().is_root() {
            token_file(&server, &server.token, mode, true);
            run(&mut plants(&server, &check)).expect(0, ACCEPTED, "");
        }
    }
}

/// Nobody listens there.
const PROXY: &str = "http://user:secret@127.0.0.1:1";

#[test]
fn loopback_bypasses_the_proxy_of_the_environment() {
    let server = Server::start();
    let port = server.address.port();
    for host in ["127.0.0.1", "localhost"] {
        let mut command = plants(&server, &[CHECK, "--url", &format!("http://{host}:{port}")]);
        run(command.env("http_proxy", PROXY).env("ALL_PROXY", PROXY)).expect(0, ACCEPTED, "");
    }
}

#[test]
fn error_names_the_variable_that_bypasses_a_proxy() {
    let server = Server::start();
    for (variable, url) in [
        ("http_proxy", "http://plants.example.org"),
        ("HTTPS_PROXY", "https://plants.example.org"),
        ("ALL_PROXY", "http://plants.example.org"),
    ] {
        let mut command = plants(&server, &[CHECK, "--url", url]);
        let finished = run(command.env(variable, PROXY));
        finished.expect(1, "", "NO_PROXY=plants.example.org bypasses it");
        assert!(!finished.stderr.contains("secret"), "{finished:?}");
    }
}
