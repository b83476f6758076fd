//! How the commands reach the service: the token, certificates, and proxies of the environment.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::unistd::{Uid, chown, geteuid};
use plant_store_tests::Server;
use plant_store_tests::tls::{Authority, TLS};

use super::{Ran, plants, run, write};

const CREATE: [&str; 5] = ["create-plant", "--id", "1", "--name", "Fern"];

/// Somebody who is not root.
const NOBODY: Uid = Uid::from_raw(65534);

/// Writes the token of the server into a file that root or somebody else owns.
fn token_file(server: &Server, mode: u32, is_roots: bool) {
    write(server, "token", format!("{}\n", server.token));
    let path = server.folder().join("token");
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
    if geteuid().is_root() {
        let owner = if is_roots { Uid::from_raw(0) } else { NOBODY };
        chown(&path, Some(owner), None).expect("root may");
    }
}

#[test]
fn private_authority_and_token_file_are_used() {
    let authority = Authority::new();
    let starting = Server::starting();
    authority.issue(starting.folder());
    let server = starting.with(&TLS).start();
    write(&server, "ca.pem", authority.pem());
    token_file(&server, 0o600, false);
    let create = [&CREATE[..], &["--token-file", "token"]].concat();
    let mut trusting = plants(&server, &[&create[..], &["--ca-file", "ca.pem"]].concat());
    let Ran { status, said, .. } = run(trusting.env("PLANTS_TOKEN", "pst_"));
    assert_eq!((status, said.as_str()), (Some(0), ""));
    // A flag wins over a variable, and an empty variable is none.
    let with_token = [&CREATE[..], &["--ca-file", "ca.pem", "--token", &server.token]].concat();
    for (words, token_file) in [(&with_token[..], "none"), (&create, "")] {
        let mut command = plants(&server, words);
        command.env("PLANTS_TOKEN_FILE", token_file).env("PLANTS_CA_FILE", "ca.pem");
        let Ran { status, said, .. } = run(&mut command);
        assert_eq!(status, Some(0), "{token_file}: {said}");
    }
}

#[test]
fn token_file_that_others_may_read_is_refused_unless_root_owns_it() {
    let server = Server::start();
    let check = ["check-token", "--token-file", "token"];
    for mode in [0o640, 0o604, 0o444] {
        token_file(&server, mode, false);
        let Ran { status, said, .. } = run(&mut plants(&server, &check));
        assert_eq!(status, Some(2), "{mode:o}");
        assert!(said.contains("others may read it: chmod 600"), "{said}");
        if geteuid().is_root() {
            token_file(&server, mode, true);
            let Ran { status, said, .. } = run(&mut plants(&server, &check));
            assert_eq!((status, said.as_str()), (Some(0), ""), "{mode:o}");
        }
    }
}

#[test]
fn two_tokens_are_refused() {
    let server = Server::start();
    token_file(&server, 0o600, false);
    for words in [&CREATE[..], &["check-token"], &["import", "plants.jsonl"]] {
        let mut command = plants(&server, words);
        let Ran { status, said, .. } = run(command.env("PLANTS_TOKEN_FILE", "token"));
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("unset PLANTS_TOKEN or PLANTS_TOKEN_FILE"), "{said}");
    }
    let both = ["check-token", "--token-file", "token", "--token", &server.token];
    assert_eq!(run(&mut plants(&server, &both)).status, Some(2));
    let mut completions = plants(&server, &["completions", "bash"]);
    assert_eq!(run(completions.env("PLANTS_TOKEN_FILE", "token")).status, Some(0));
}

#[test]
fn empty_url_in_the_environment_is_none() {
    let server = Server::start();
    let mut command = plants(&server, &["check-token"]);
    let Ran { said, .. } = run(command.env("PLANTS_URL", ""));
    assert!(!said.contains("base URL"), "{said}");
}

/// Writes a certificate and its key into a folder.
type Issue = fn(&Authority, &Path);

#[test]
fn certificate_that_is_not_accepted_is_explained() {
    let [authority, stranger] = [Authority::new(), Authority::new()];
    let cases: [(&Authority, Issue, &str); 5] = [
        (&authority, Authority::serve_itself, "that of an authority, as `openssl req -x509` makes"),
        (&authority, |it, folder| drop(it.issue_valid([2001, 2002], folder)), "has to renew it"),
        (
            &authority,
            |it, folder| drop(it.issue_valid([2401, 2402], folder)),
            "see whether the clock",
        ),
        (&authority, |it, folder| drop(it.issue_for("plants.org", folder)), "as its certificate"),
        (&stranger, |it, folder| drop(it.issue(folder)), "see whether --ca-file"),
    ];
    for (issuer, issue, expected) in cases {
        let starting = Server::starting();
        issue(issuer, starting.folder());
        let server = starting.with(&TLS).start();
        write(&server, "ca.pem", authority.pem());
        let check = ["check-token", "--ca-file", "ca.pem"];
        let Ran { status, said, .. } = run(&mut plants(&server, &check));
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("certificate") && said.contains(expected), "{said}");
    }
}

/// Nobody listens there.
const PROXY: &str = "http://user:password@127.0.0.1:1";

#[test]
fn loopback_is_reached_past_the_proxy_of_the_environment() {
    let server = Server::start();
    let port = server.address.port();
    for host in ["127.0.0.1", "localhost"] {
        let mut command = plants(&server, &CREATE);
        command.env("PLANTS_URL", format!("http://{host}:{port}"));
        let Ran { status, said, .. } =
            run(command.env("http_proxy", PROXY).env("ALL_PROXY", PROXY));
        assert_eq!(status, Some(0), "{host}: {said}");
    }
}

#[test]
fn error_names_the_proxy_of_the_environment() {
    let server = Server::start();
    for (variable, url) in [
        ("http_proxy", "http://plants.example.org"),
        ("HTTPS_PROXY", "https://plants.example.org"),
        ("ALL_PROXY", "http://plants.example.org"),
    ] {
        let mut command = plants(&server, &["check-token", "--url", url]);
        let Ran { status, said, .. } = run(command.env(variable, PROXY));
        assert_eq!(status, Some(1));
        let expected = "the environment sets the proxy http://127.0.0.1:1/ \
                        (NO_PROXY=plants.example.org passes it by)";
        assert!(said.contains(expected) && !said.contains("password"), "{said}");
    }
}
