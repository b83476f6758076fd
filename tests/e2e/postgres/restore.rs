//! `plant-store restore` into a database.

use nix::sys::signal::Signal;
use plant_store_tests::{Folder, Server, plant, run};
use tempfile::TempDir;

use super::scene::with_plants;

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
