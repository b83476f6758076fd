//! `plant-store restore` into a database.

use std::process::Stdio;

use nix::sys::signal::Signal;
use plant_store_tests::{Folder, Server, binary_in, failure, plant, run, wait_until};
use tempfile::TempDir;

use super::scene::with_plants;
use crate::operators::create;

#[test]
fn restore_fills_an_empty_database_goes_on_after_an_interruption_and_refuses_another_one() {
    let (cluster, url) = with_plants();
    let server = Server::starting_in(Folder::over(&url)).start();
    for id in 1..=3 {
        server.create(&plant(id, "Ficus", None)).plant();
    }
    let folder = TempDir::new().expect("a temporary folder");
    let backup = folder.path().join("backup.db").display().to_string();
    server.command(&["copy", "--from", &url, "--to", &format!("sqlite:{backup}")]);
    let words = ["restore", &backup, "--store", &url, "--tokens", "backup"];
    let restore = || {
        let output = run(folder.path(), &words);
        let said = if output.status.success() { &output.stdout } else { &output.stderr };
        (output.status.success(), String::from_utf8_lossy(said).into_owned())
    };
    let (is_done, said) = restore();
    assert!(is_done && said.contains("holds what is in"), "{said}");
    server.create(&plant(4, "Fern", None)).plant();
    let (is_done, said) = restore();
    assert!(!is_done && said.contains("is not empty: it has plants"), "{said}");
    let stopped = server.stopped_by(Signal::SIGTERM);

    let session = cluster.session("plants");
    // As an interrupted restore leaves it.
    session.execute("DELETE FROM plants WHERE id > 1");
    session.execute("DELETE FROM tokens");
    let (is_done, said) = restore();
    assert!(is_done && said.contains("plants: 3, tokens added: 1"), "{said}");
    assert!(said.contains("come back: first"), "{said}");
    assert!(stopped.start().export().into_keys().eq([1, 2, 3]));

    session.execute("DROP TABLE plants, tokens, plant_store_schema");
    assert!(restore().0, "into a database without tables");
    assert_eq!(session.value("SELECT count(*) FROM plants"), "3");
}

#[test]
fn database_into_which_a_restore_was_killed_is_refused_until_the_same_restore_has_ended() {
    let (cluster, url) = with_plants();
    let server = Server::start();
    create(&server, 0..3000);
    server.command(&["copy", "--from", server.store(), "--to", "sqlite:backup.db"]);
    let folder = server.folder();
    let restore = || {
        let mut command = binary_in(folder);
        command.args(["restore", "backup.db", "--store", &url, "--tokens", "backup"]);
        command
    };
    let mut killed = restore().stdout(Stdio::null()).spawn().expect("it starts");
    let session = cluster.session("plants");
    let has = |what: &str| session.value(&format!("SELECT {what}")) == "t";
    let is_begun =
        || has("to_regclass('plants') IS NOT NULL") && has("EXISTS (SELECT FROM plants)");
    wait_until(is_begun, || "nothing is copied".into());
    killed.kill().expect("the process is ours");
    killed.wait().expect("it ends");
    assert!(has("(SELECT count(*) FROM plants) < 3000"), "it was killed before its end");

    let refused = |words: &[&str]| failure(binary_in(folder).args(words).args(["--store", &url])).1;
    for command in ["check", "serve", "export"] {
        let said = refused(&[command]);
        assert!(said.contains("was interrupted, so not every plant is there"), "{said}");
        assert!(
            said.contains("run the same `plant-store copy` or `plant-store restore`"),
            "{said}"
        );
    }
    session.execute("INSERT INTO plants VALUES (-1, '{}')");
    let (_, said) = failure(&mut restore());
    assert!(said.contains("is not empty: it has plants"), "{said}");
    session.execute("DELETE FROM plants WHERE id = -1");
    // As a kill before the last statement leaves it.
    for _ in 0..2 {
        let output = restore().output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let sound = run(folder, &["check", "--store", &url]);
        assert!(String::from_utf8_lossy(&sound.stdout).contains("plants: 3000, tokens: 1"));
        session.execute("DELETE FROM plant_store_schema WHERE version = 1");
    }
}
