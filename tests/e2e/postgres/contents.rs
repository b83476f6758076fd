//! The content of a database: whether it is a sound store, and what `export` and `copy` read from
//! it and write to it.

use std::process::Stdio;

use nix::sys::signal::Signal;
use plant_store_tests::postgres::{Cluster, Mode};
use plant_store_tests::{Folder, Server, Starting, binary_in, plant, wait_until};
use serde_json::Value;
use tempfile::TempDir;

use super::scene::{
    as_owner, cluster_with_database, create_database, refusal, wait_until_blocked_by,
};
use crate::database;

/// The number of plants between the others. They are read and written in several pages.
const MANY: usize = 2500;

/// Returns a server to be started on a new store without a token in that database.
fn without_token(url: &str) -> Starting {
    Starting::on(Folder::over(url), "").with(&["--first-token", "none"])
}

/// Starts a server on a file. Its plants include the smallest and the largest id, U+0000, the empty
/// string and an emoji.
fn server_on_a_file() -> Server {
    let folder = TempDir::new().expect("a temporary folder");
    let server = Server::starting_in(folder.into()).start();
    for (id, name, tag) in [
        (i64::MIN, "\0", None),
        (-1, "", Some("")),
        (0, "Ficus 🌱 \"lyrata\" \\", Some("indoor")),
        (i64::MAX, "Fern", Some("")),
    ] {
        server.create(&plant(id, name, tag)).plant();
    }
    let many = format!(
        "WITH RECURSIVE ids(id) AS (SELECT 10 UNION ALL SELECT id + 1 FROM ids LIMIT {MANY})
        INSERT INTO plants (id, json) SELECT id, json_object('name', 'Ficus ' || id) FROM ids"
    );
    database::open(&server).execute_batch(&many).expect("the rows are added");
    server
}

fn copy(server: &Server, from: &str, to: &str) {
    server.command(&["copy", "--from", from, "--to", to]);
}

fn export(server: &Server, url: &str) -> String {
    server.command(&["export", "--store", url])
}

#[test]
fn check_of_an_unsound_database_exits_1() {
    let (cluster, url) = cluster_with_database();
    let server = Server::starting_in(Folder::over(&url)).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let session = cluster.session("plants");
    let is_sound = || server.command(&["check"]).contains("is sound");
    for (fault, repair, expected) in [
        (
            "ALTER TABLE plants DROP CONSTRAINT plants_pkey",
            "ALTER TABLE plants ADD PRIMARY KEY (id)",
            "the tables do not match the layout of a store: plants was changed",
        ),
        (
            "ALTER TABLE tokens RENAME digest TO hash",
            "ALTER TABLE tokens RENAME hash TO digest",
            "the tables do not match the layout of a store: tokens was changed",
        ),
        (
            "ALTER TABLE plants SET UNLOGGED",
            "ALTER TABLE plants SET LOGGED",
            "plants of the database is UNLOGGED",
        ),
    ] {
        session.execute(fault);
        let stderr = refusal(&url, "check", &[]);
        assert!(stderr.contains(&format!("is not sound: {expected}")), "{fault}: {stderr}");
        session.execute(repair);
        assert!(is_sound(), "{repair}");
    }
    cluster.set("full_page_writes", "off");
    let stderr = refusal(&url, "check", &[]);
    assert!(stderr.contains("is not sound: the database has full_page_writes=off"), "{stderr}");
}

#[test]
fn check_exits_2_if_the_store_cannot_be_checked() {
    let (cluster, url) = cluster_with_database();
    let cause = |url: &str| {
        let stderr = refusal(url, "check", &[]);
        assert!(stderr.contains(" cannot be checked: "), "{stderr}");
        let output = Folder::over(url).command().args(["check", "--json"]).output();
        let output = output.expect("the binary starts");
        assert_eq!(output.status.code(), Some(2));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["sound"], Value::Null, "{report}");
        report["faults"][0].as_str().expect("a cause").to_owned()
    };
    assert!(cause(&url).contains("there is no store at"));
    drop(without_token(&url).start());
    cluster.session("postgres").execute("CREATE ROLE stranger LOGIN");
    assert!(cause(&url.replace("//plants@", "//stranger@")).contains("permission denied"));
    cluster.stop(Mode::Fast);
    assert!(cause(&url).contains("cannot use"));
}

#[test]
fn export_and_copy_from_a_standby_equal_those_from_the_primary() {
    let primary = Cluster::start();
    create_database(&primary);
    let standby = primary.standby("s1");
    let [url, standby_url] = [&primary, &standby].map(|cluster| as_owner(&cluster.url("plants")));
    let server = Server::starting_in(Folder::over(&url)).start();
    // With `remote_apply` this returns when the standby shows the rows, too.
    primary.session("plants").execute(
        "SET synchronous_commit = remote_apply;
        INSERT INTO plants (id, json)
            SELECT id, format('{\"name\":\"Ficus 🌱 %s\"}', id)
            FROM generate_series(-1500, 1500) id",
    );
    let exported = export(&server, &url);
    assert_eq!(exported.lines().count(), 3001);
    assert!(export(&server, &standby_url) == exported);
    copy(&server, &standby_url, "sqlite:copy.db");
    assert!(export(&server, "sqlite:copy.db") == exported);
    // A standby takes no writes. The token is printed, but it is never in force.
    let output = Folder::over(&standby_url).command().args(["token", "create", "ci"]).output();
    let output = output.expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{stderr}");
    assert!(stderr.contains("database does not allow writes"), "{stderr}");
}

#[test]
pub fn copy_to_a_database_and_back_keeps_every_byte() {
    let (_cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    let exported = export(&file, file.store());
    assert_eq!(exported.lines().count(), MANY + 4);
    copy(&file, file.store(), &url);
    assert!(export(&file, &url) == exported);
    copy(&file, &url, "sqlite:back.db");
    assert!(export(&file, "sqlite:back.db") == exported);
    // Clients see the copied plants as the same: a repeat gets 200, and a different plant 409.
    let served = Starting::on(Folder::over(&url), &file.token).start();
    for line in exported.lines().filter(|line| !line.contains("\"Ficus 1")) {
        served.create(line).plant();
    }
    assert_eq!(served.create(&plant(i64::MAX, "Fern", None)).error(), 409, "the tag is ''");
}

#[test]
fn killed_copy_is_completed_by_repeating_it() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    drop(without_token(&url).start().stopped_by(Signal::SIGTERM));
    let session = cluster.session("plants");
    // This transaction blocks the copy after it has committed its first page.
    session.execute("BEGIN; INSERT INTO plants (id, json) VALUES (2000, '{}')");
    let mut command = binary_in(file.folder());
    command.args(["copy", "--from", file.store(), "--to", &url]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut copying = command.spawn().expect("the binary starts");
    wait_until_blocked_by(&session, &cluster);
    copying.kill().expect("the process is ours");
    copying.wait().expect("the process can be waited for");
    session.execute("ROLLBACK");
    let backends = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'";
    wait_until(|| session.value(backends) == "0", || "the copy's backend stays".into());
    let part = export(&file, &url).lines().count();
    assert!((1..=MANY).contains(&part), "{part} plants");
    for _ in 0..2 {
        copy(&file, file.store(), &url);
        assert!(export(&file, &url) == export(&file, file.store()));
    }
}

#[test]
fn copy_is_refused_at_a_different_plant_of_the_same_id() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    drop(without_token(&url).start().stopped_by(Signal::SIGTERM));
    let session = cluster.session("plants");
    session.execute("INSERT INTO plants (id, json) VALUES (11, '{\"name\":\"Ivy\"}')");
    let from = format!("sqlite:{}", file.folder().join(database::STORE).display());
    let stderr = refusal(&url, &format!("copy --from {from} --to {url}"), &[]);
    assert!(stderr.contains("11"), "the message names the id: {stderr}");
    assert!(session.value("SELECT json FROM plants WHERE id = 11").contains("Ivy"));
}

/// The same copy, run again, completes the store.
#[test]
fn database_of_an_interrupted_copy_is_refused() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    let session = cluster.session("plants");
    // The DELETE leaves the database as a kill before the last statement of the copy would.
    for _ in 0..2 {
        copy(&file, file.store(), &url);
        assert!(export(&file, &url) == export(&file, file.store()));
        session.execute("DELETE FROM plant_store_schema WHERE version = 1");
        for command in ["check", "serve", "export"] {
            let stderr = refusal(&url, command, &[]);
            assert!(stderr.contains("was interrupted, so some rows are missing"), "{stderr}");
            assert!(stderr.contains("run the same `plant-store copy` again"), "{stderr}");
        }
    }
}

#[test]
fn backup_and_restore_of_a_database_point_to_its_own_tools() {
    let (_cluster, url) = cluster_with_database();
    let stderr = refusal(&url, &format!("backup folder --store {url}"), &[]);
    assert!(stderr.contains("pg_dump"), "{stderr}");
    let stderr = refusal(&url, &format!("restore backup.db --store {url}"), &[]);
    assert!(stderr.contains("pg_restore") && stderr.contains("plant-store copy"), "{stderr}");
}
