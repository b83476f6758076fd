//! How the commands reach the service: the token, certificates, and proxies in the environment.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::unistd::{Uid, chown, geteuid};
use plant_store_tests::Server;
use plant_store_tests::tls::{Authority, TLS};

use super::{Finished, plants, run, write};

const CREATE: [&str; 5] = ["create-plant", "--id", "1", "--name", "Fern"];

/// A user who is not root.
const NOBODY: Uid = Uid::from_raw(65534);

/// Writes the token of the server to a file that belongs to root or to [`NOBODY`].
fn token_file(server: &Server, mode: u32, is_owned_by_root: bool) {
    write(server, "token", format!("{}\n", server.token));
    let path = server.folder().join("token");
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
    if geteuid().is_root() {
        let owner = if is_owned_by_root { Uid::from_raw(0) } else { NOBODY };
        chown(&path, Some(owner), None).expect("root may change the owner");
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
    let Finished { exit_code, stderr, .. } = run(trusting.env("PLANTS_TOKEN", "pst_"));
    assert_eq!((exit_code, stderr.as_str()), (Some(0), ""));
    // A flag wins over a variable, and an empty variable counts as unset.
    let with_token = [&CREATE[..], &["--ca-file", "ca.pem", "--token", &server.token]].concat();
    for (arguments, token_file) in [(&with_token[..], "none"), (&create, "")] {
        let mut command = plants(&server, arguments);
        command.env("PLANTS_TOKEN_FILE", token_file).env("PLANTS_CA_FILE", "ca.pem");
        let Finished { exit_code, stderr, .. } = run(&mut command);
        assert_eq!(exit_code, Some(0), "{token_file}: {stderr}");
    }
}

#[test]
fn token_file_readable_by_others_must_belong_to_root() {
    let server = Server::start();
    let check = ["check-token", "--token-file", "token"];
    for mode in [0o640, 0o604, 0o444] {
        token_file(&server, mode, false);
        let Finished { exit_code, stderr, .. } = run(&mut plants(&server, &check));
        assert_eq!(exit_code, Some(2), "{mode:o}");
        assert!(stderr.contains("other users can read it: run chmod 600 on it"), "{stderr}");
        if geteuid().is_root() {
            token_file(&server, mode, true);
            let Finished { exit_code, stderr, .. } = run(&mut plants(&server, &check));
            assert_eq!((exit_code, stderr.as_str()), (Some(0), ""), "{mode:o}");
        }
    }
}

#[test]
fn two_tokens_are_refused() {
    let server = Server::start();
    token_file(&server, 0o600, false);
    for arguments in [&CREATE[..], &["check-token"], &["import", "plants.jsonl"]] {
        let mut command = plants(&server, arguments);
        let Finished { exit_code, stderr, .. } = run(command.env("PLANTS_TOKEN_FILE", "token"));
        assert_eq!(exit_code, Some(2), "{stderr}");
        assert!(stderr.contains("two tokens are given"), "{stderr}");
    }
    let both = ["check-token", "--token-file", "token", "--token", &server.token];
    assert_eq!(run(&mut plants(&server, &both)).exit_code, Some(2));
}

#[test]
fn empty_url_in_the_environment_counts_as_unset() {
    let server = Server::start();
    let mut command = plants(&server, &["check-token"]);
    let Finished { stderr, .. } = run(command.env("PLANTS_URL", ""));
    assert!(!stderr.contains("the base URL \"\""), "{stderr}");
}

/// Writes a certificate and its key into a folder.
type Issue = fn(&Authority, &Path);

#[test]
fn rejected_certificate_is_explained() {
    let [authority, stranger] = [Authority::new(), Authority::new()];
    let cases: [(&Authority, Issue, &str); 5] = [
        (
            &authority,
            Authority::serve_itself,
            "an authority, which is what `openssl req -x509` makes",
        ),
        (
            &authority,
            |issuer, folder| drop(issuer.issue_valid([2001, 2002], folder)),
            "must renew it",
        ),
        (
            &authority,
            |issuer, folder| drop(issuer.issue_valid([2401, 2402], folder)),
            "check whether the clock",
        ),
        (
            &authority,
            |issuer, folder| drop(issuer.issue_for("plants.org", folder)),
            "must match a name",
        ),
        (&stranger, |issuer, folder| drop(issuer.issue(folder)), "check whether --ca-file"),
    ];
    for (issuer, issue, expected) in cases {
        let starting = Server::starting();
        issue(issuer, starting.folder());
        let server = starting.with(&TLS).start();
        write(&server, "ca.pem", authority.pem());
        let check = ["check-token", "--ca-file", "ca.pem"];
        let Finished { exit_code, stderr, .. } = run(&mut plants(&server, &check));
        assert_eq!(exit_code, Some(1), "{stderr}");
        assert!(stderr.contains("certificate") && stderr.contains(expected), "{stderr}");
    }
}

/// Nobody listens there.
const PROXY: &str = "http://user:password@127.0.0.1:1";

#[test]
fn loopback_bypasses_the_proxy_of_the_environment() {
    let server = Server::start();
    let port = server.address.port();
    for host in ["127.0.0.1", "localhost"] {
        let mut command = plants(&server, &CREATE);
        command.env("PLANTS_URL", format!("http://{host}:{port}"));
        let Finished { exit_code, stderr, .. } =
            run(command.env("http_proxy", PROXY).env("ALL_PROXY", PROXY));
        assert_eq!(exit_code, Some(0), "{host}: {stderr}");
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
        let Finished { exit_code, stderr, .. } = run(command.env(variable, PROXY));
        assert_eq!(exit_code, Some(1));
        let expected = "the environment sets the proxy http://127.0.0.1:1/ \
                        (NO_PROXY=plants.example.org bypasses it)";
        assert!(stderr.contains(expected) && !stderr.contains("password"), "{stderr}");
    }
}
