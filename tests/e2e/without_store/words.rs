//! Error messages of commands: what happened, where, and what to do next.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use nix::unistd::geteuid;
use plant_store_tests::tls::{Authority, KEY, TLS};
use plant_store_tests::{Launched, Server, binary_in, failure, run, without_own_variables};
use tempfile::TempDir;

use crate::database::STORE;

#[test]
fn missing_store_is_reported_with_its_absolute_path() {
    let folder = TempDir::new().expect("a temporary folder");
    let here = folder.path().canonicalize().expect("the folder is there");
    let copy = format!("copy --from sqlite:{STORE} --to sqlite:copy.db --tokens none");
    for words in ["export", "token list", "serve --no-create", "check", &copy] {
        let (_, stderr) = failure(binary_in(folder.path()).args(words.split(' ')));
        let expected = format!(
            "no store at sqlite:{}/{STORE}: name an existing store, for example with `--store ",
            here.display()
        );
        assert!(stderr.contains(&expected), "{stderr}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    let (_, stderr) =
        failure(binary_in(folder.path()).args(["export", "--store", "sqlite:/no/x.db"]));
    assert!(stderr.contains("no store at sqlite:/no/x.db: name an existing store"), "{stderr}");
}

/// Returns a command that runs the binary in a folder, without the capabilities of root. Even if
/// root runs the tests, the permissions of files apply to it.
pub fn unprivileged(folder: &Path) -> Command {
    let command = binary_in(folder);
    if !geteuid().is_root() {
        return command;
    }
    let mut unprivileged = Command::new("setpriv");
    unprivileged.arg("--bounding-set=-all").arg(command.get_program());
    without_own_variables(&mut unprivileged);
    unprivileged.current_dir(folder).env("PLANT_STORE_LISTEN", "127.0.0.1:0");
    unprivileged
}

#[test]
fn privileged_port_is_refused_with_advice() {
    let folder = TempDir::new().expect("a temporary folder");
    for (flags, expected) in [
        (["--listen", "127.0.0.1:80"], "plant-store: cannot listen on 127.0.0.1:80: "),
        (["--metrics", "127.0.0.1:80"], "plant-store: cannot serve metrics on 127.0.0.1:80: "),
    ] {
        let mut command = unprivileged(folder.path());
        let (status, stderr) = failure(command.arg("serve").args(flags));
        assert_eq!(status, Some(1), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
        assert!(stderr.contains("low ports need root or CAP_NET_BIND_SERVICE; use a"), "{stderr}");
    }
}

#[test]
fn missing_permission_is_reported_with_the_file_or_folder() {
    let folder = TempDir::new().expect("a temporary folder");
    Authority::new().issue(folder.path());
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("the test owns the file");
    };
    set_mode(&folder.path().join(KEY), 0o000);
    set_mode(folder.path(), 0o555);
    for (flags, expected) in [
        (&TLS[..], "cannot read plants.key: Permission denied"),
        (&[], "cannot write to the folder"),
    ] {
        let (status, stderr) = failure(unprivileged(folder.path()).arg("serve").args(flags));
        assert_eq!(status, Some(1), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    set_mode(folder.path(), 0o755);
}

/// A token that cannot be printed is never stored.
#[test]
fn full_stdout_is_reported_by_every_command() {
    let folder = TempDir::new().expect("a temporary folder");
    let serve = ["serve", "--first-token", "none", "--listen", "127.0.0.1:0"];
    let server = Launched::start(binary_in(folder.path()).args(serve)).expect("it serves");
    for words in [
        &["openapi"][..],
        &["completions", "bash"],
        &["check"],
        &["token", "create", "ci"],
        &["token", "list"],
    ] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = binary_in(folder.path()).args(words).stdout(full).output();
        let output = output.expect("the binary starts");
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(
            stderr.contains("cannot write to standard output: No space left"),
            "{words:?}: {stderr}"
        );
        assert_eq!(
            stderr.contains("no token was issued"),
            words[1..] == ["create", "ci"],
            "{stderr}"
        );
    }
    let listed = run(folder.path(), &["token", "list", "--json"]).stdout;
    assert_eq!(String::from_utf8(listed).expect("text").trim(), "[]");
    drop(server);
}

/// Nobody would see the token.
#[test]
fn token_create_with_closed_stdout_issues_no_token() {
    let server = Server::start();
    let before = server.command(&["token", "list", "--json"]);
    for redirection in [">&-", "> /dev/null"] {
        let mut shell = Command::new("sh");
        without_own_variables(&mut shell);
        let create = format!("exec \"$0\" token create ci {redirection}");
        shell.args(["-c", &create]).arg(binary_in(server.folder()).get_program());
        shell.env("PLANT_STORE_STORE", server.store()).current_dir(server.folder());
        let output = shell.output().expect("there is a shell");
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{redirection}: {stderr}");
        assert!(
            stderr.contains("no token was issued") && stderr.contains("nobody would see"),
            "{stderr}"
        );
        assert_eq!(server.command(&["token", "list", "--json"]), before);
    }
}
