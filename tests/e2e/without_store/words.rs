//! What a person is told who cannot go on: what happened, where, and what to do.

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
fn store_that_is_missing_is_named_by_its_absolute_path_and_its_flag() {
    let folder = TempDir::new().expect("a temporary folder");
    let here = folder.path().canonicalize().expect("the folder is there");
    let copy = format!("copy --from sqlite:{STORE} --to sqlite:copy.db");
    for words in ["export", "token list", "serve --no-create", "check", &copy] {
        let (_, said) = failure(binary_in(folder.path()).args(words.split(' ')));
        let expected = format!(
            "no store at sqlite:{}/{STORE}: name the one that is there, such as by `--store ",
            here.display()
        );
        assert!(said.contains(&expected), "{said}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    let (_, said) =
        failure(binary_in(folder.path()).args(["export", "--store", "sqlite:/no/x.db"]));
    assert!(said.contains("no store at sqlite:/no/x.db: name the one"), "{said}");
}

/// The binary in that folder, without the capabilities of root: for root too, the permissions of
/// files hold.
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
fn port_that_only_root_may_take_is_refused_with_what_it_needs() {
    let folder = TempDir::new().expect("a temporary folder");
    for (flags, expected) in [
        (["--listen", "127.0.0.1:80"], "plant-store: cannot listen on 127.0.0.1:80: "),
        (["--metrics", "127.0.0.1:80"], "plant-store: cannot serve metrics on 127.0.0.1:80: "),
    ] {
        let mut command = unprivileged(folder.path());
        let (status, said) = failure(command.arg("serve").args(flags));
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("a low port needs root or CAP_NET_BIND_SERVICE; take"), "{said}");
    }
}

#[test]
fn start_that_lacks_a_permission_names_the_file_or_the_folder() {
    let folder = TempDir::new().expect("a temporary folder");
    Authority::new().issue(folder.path());
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    };
    set_mode(&folder.path().join(KEY), 0o000);
    set_mode(folder.path(), 0o555);
    for (flags, expected) in [
        (&TLS[..], "cannot read plants.key: Permission denied"),
        (&[], "cannot write to the folder"),
    ] {
        let (status, said) = failure(unprivileged(folder.path()).arg("serve").args(flags));
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains(expected), "{said}");
    }
    set_mode(folder.path(), 0o755);
}

#[test]
fn standard_output_that_is_full_is_named_and_a_token_that_is_not_printed_is_never_stored() {
    let folder = TempDir::new().expect("a temporary folder");
    let begin = ["serve", "--first-token", "none", "--listen", "127.0.0.1:0"];
    let server = Launched::start(binary_in(folder.path()).args(begin)).expect("it serves");
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
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(
            said.contains("cannot write to standard output: No space left"),
            "{words:?}: {said}"
        );
        assert_eq!(said.contains("no token is issued"), words[1..] == ["create", "ci"], "{said}");
    }
    let listed = run(folder.path(), &["token", "list", "--json"]).stdout;
    assert_eq!(String::from_utf8(listed).expect("text").trim(), "[]");
    drop(server);
}

/// Nobody would see the token.
#[test]
fn token_create_with_a_closed_standard_output_issues_none() {
    let server = Server::start();
    let before = server.command(&["token", "list", "--json"]);
    for redirection in [">&-", "> /dev/null"] {
        let mut shell = Command::new("sh");
        without_own_variables(&mut shell);
        let create = format!("exec \"$0\" token create ci {redirection}");
        shell.args(["-c", &create]).arg(binary_in(server.folder()).get_program());
        shell.env("PLANT_STORE_STORE", server.store()).current_dir(server.folder());
        let output = shell.output().expect("there is a shell");
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{redirection}: {said}");
        assert!(said.contains("nobody would see the token: none is issued"), "{said}");
        assert_eq!(server.command(&["token", "list", "--json"]), before);
    }
}
