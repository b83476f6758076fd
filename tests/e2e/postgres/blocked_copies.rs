//! A copy that waits for a lock in the database, where it notices no signal.

use std::fs;

use nix::sys::signal::Signal;
use plant_store_tests::{Folder, Server, binary_in, signalled};
use tempfile::TempDir;

use super::scene::{as_owner, wait_until_blocked_by, with_plants};

#[test]
fn copy_that_waits_for_a_lock_ends_at_the_first_signal_and_leaves_no_file() {
    let (cluster, url) = with_plants();
    let _ = Server::starting_in(Folder::over(&url)).start().stopped_by(Signal::SIGTERM);
    cluster.databases().create("empty");
    cluster.session("postgres").execute("ALTER DATABASE empty OWNER TO plants");
    let empty = as_owner(&cluster.url("empty"));
    for (database, lock, from, to, signal) in [
        ("plants", "LOCK TABLE plants", &url[..], "sqlite:copy.db", Signal::SIGTERM),
        ("empty", "CREATE TABLE plants (id int)", &url, &empty, Signal::SIGINT),
    ] {
        let session = cluster.session(database);
        session.execute(&format!("BEGIN; {lock}"));
        let folder = TempDir::new().expect("a temporary folder");
        let (said, status) = signalled(
            binary_in(folder.path()).args(["copy", "--from", from, "--to", to]),
            || wait_until_blocked_by(&session, &cluster),
            signal,
        );
        assert_eq!(status.code(), Some(1), "{said}");
        assert_eq!(said, "plant-store: interrupted while a store did not answer\n");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 0);
        session.execute("ROLLBACK");
    }
}
