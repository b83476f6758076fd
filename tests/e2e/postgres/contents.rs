//! What is in the store: whether it is sound, what `export` and `copy` make of it, and stores of
//! other schema versions.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use nix::sys::signal::Signal;
use plant_store_tests::postgres::{Cluster, Mode, Session};
use plant_store_tests::{Folder, Server, Starting, binary_in, plant, wait_until};
use serde_json::Value;

use super::scene::{
    TABLES, as_owner, create_database, refusal, wait_until_blocked_by, with_plants,
};
use crate::database;
use crate::sqlite::schemas::{TOKEN, folder_with, newest};

/// A server on a new store in that database, which has no token.
fn without_token(url: &str) -> Starting {
    Starting::on(Folder::over(url), TOKEN).with(&["--first-token", "none"])
}

/// A server on a file, with plants at both ends of the ids, U+0000, the empty string, an emoji, and
/// so many others that they are read and written in several pages.
fn on_a_file() -> Server {
    let server = Starting::on(folder_with(newest()), TOKEN).start();
    let many = "WITH RECURSIVE ids(id) AS (SELECT 10 UNION ALL SELECT id + 1 FROM ids LIMIT 2500)
        INSERT INTO plants (id, name) SELECT id, 'Ficus ' || id FROM ids";
    database::open(&server).execute_batch(many).expect("the store takes them");
    server
}

/// The line with which a copy from that server's store is refused.
fn refused_copy(from: &Server, to: &str) -> String {
    let from = format!("sqlite:{}", from.folder().join(database::STORE).display());
    refusal(to, &format!("copy --from {from} --to {to}"), &[])
}

/// The lines that a copy prints, without the URLs of both sides: the same two.
fn copy(server: &Server, from: &str, to: &str) -> String {
    let printed = server.command(&["copy", "--from", from, "--to", to]);
    let tally = |line: &str| line[line.rfind("plants: ").expect("a tally")..].to_owned();
    let [one, other] = printed.lines().map(tally).collect::<Vec<_>>().try_into().expect("two");
    assert_eq!(one, other);
    one
}

fn export(server: &Server, url: &str) -> String {
    server.command(&["export", "--store", url])
}

#[test]
fn check_says_what_is_wrong_with_status_1() {
    let (cluster, url) = with_plants();
    let server = Server::starting_in(Folder::over(&url)).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let session = cluster.session("plants");
    let is_sound = || server.command(&["check"]).contains("is sound; plants: 1, tokens: 1, size: ");
    assert!(is_sound());
    let other_tables = "the tables are not those of schema version";
    for (fault, repair, expected) in [
        (
            "ALTER TABLE plants DROP CONSTRAINT plants_pkey",
            "ALTER TABLE plants ADD PRIMARY KEY (id)",
            "plants.id is not a key",
        ),
        (
            "ALTER TABLE plants ALTER name DROP NOT NULL",
            "ALTER TABLE plants ALTER name SET NOT NULL",
            other_tables,
        ),
        (
            "ALTER TABLE plants ALTER name TYPE text USING convert_from(name, 'UTF8')",
            "ALTER TABLE plants ALTER name TYPE bytea USING convert_to(name, 'UTF8')",
            other_tables,
        ),
        ("ALTER TABLE tokens ADD note text", "ALTER TABLE tokens DROP note", other_tables),
    ] {
        session.execute(fault);
        let said = refusal(&url, "check", &[]);
        assert!(said.contains(&format!("is not sound: {expected}")), "{fault}: {said}");
        session.execute(repair);
        assert!(is_sound(), "{repair}");
    }
    for setting in ["fsync", "full_page_writes"] {
        cluster.set(setting, "off");
        let said = refusal(&url, "check", &[]);
        assert!(said.contains(&format!("is not sound: the database has {setting}=off")), "{said}");
        cluster.set(setting, "on");
    }
    assert!(is_sound());
}

#[test]
fn what_cannot_be_checked_is_status_2_with_its_reason() {
    let (cluster, url) = with_plants();
    let reason = |url: &str| {
        let said = refusal(url, "check", &[]);
        assert!(said.contains(" cannot be checked: "), "{said}");
        let output = Folder::over(url).command().args(["check", "--json"]).output();
        let report = output.expect("the binary starts").stdout;
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!(report["sound"], Value::Null, "{report}");
        report["reason"].as_str().expect("a reason").to_owned()
    };
    assert_eq!(reason(&url), "missing", "the store");
    assert_eq!(reason(&as_owner(&cluster.url("ferns"))), "missing", "the database");
    drop(without_token(&url).start());
    cluster.session("postgres").execute("CREATE ROLE stranger LOGIN");
    assert_eq!(reason(&url.replace("//plants@", "//stranger@")), "denied");
    cluster.stop(Mode::Fast);
    assert_eq!(reason(&url), "unreachable");
}

#[test]
fn export_and_copy_from_a_standby_are_those_from_the_primary() {
    let primary = Cluster::start();
    create_database(&primary);
    let standby = primary.standby("s1");
    let [url, standby_url] = [&primary, &standby].map(|cluster| as_owner(&cluster.url("plants")));
    let server = Server::starting_in(Folder::over(&url)).start();
    // It returns when the standby shows them, too.
    primary.session("plants").execute(
        "SET synchronous_commit = remote_apply;
        INSERT INTO plants (id, name, tag)
            SELECT id, convert_to('Ficus 🌱 ' || id, 'UTF8'), '' FROM generate_series(-1500, 1500) id;
        UPDATE plants SET name = '\\x00', tag = NULL WHERE id = 0",
    );
    let exported = export(&server, &url);
    assert_eq!(exported.lines().count(), 3001);
    assert!(export(&server, &standby_url) == exported);
    let tally = copy(&server, &standby_url, "sqlite:copy.db");
    assert!(tally.starts_with("plants: 3001, tokens: 1, "), "{tally}");
    assert!(export(&server, "sqlite:copy.db") == exported);
    // It cannot be written to.
    let said = refusal(&standby_url, "token create ci", &[]);
    assert!(said.contains("database does not allow writes"), "{said}");
}

#[test]
pub fn copy_to_a_database_and_back_keeps_every_byte() {
    let (_cluster, url) = with_plants();
    let file = on_a_file();
    let exported = export(&file, file.store());
    assert_eq!(exported.lines().count(), 2504);
    let tally = copy(&file, file.store(), &url);
    assert!(export(&file, &url) == exported);
    assert_eq!(copy(&file, &url, "sqlite:back.db"), tally);
    assert!(export(&file, "sqlite:back.db") == exported);
    // Each plant of the copy is the same for a client: it is repeated, and no other takes its id.
    let served = Starting::on(Folder::over(&url), TOKEN).start();
    for line in exported.lines().filter(|line| !line.contains("\"Ficus ")) {
        served.create(line).plant();
    }
    assert_eq!(served.create(&plant(2, "Ficus lyrata", None)).refusal().0, 409, "it has a tag: ''");
    assert!(export(&file, &url) == exported);
}

/// A copy into that database, begun in the background.
fn begin_copy(from: &Server, to: &str) -> Child {
    binary_in(from.folder())
        .args(["copy", "--from", from.store(), "--to", to])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts")
}

/// Has the copy come to a lock of that session, and kills it there.
fn kill_at_lock(cluster: &Cluster, holder: &Session, mut copy: Child, meanwhile: impl Fn()) {
    wait_until_blocked_by(holder, cluster);
    meanwhile();
    copy.kill().expect("the process is ours");
    copy.wait().expect("the process can be waited for");
    holder.execute("ROLLBACK");
    let backends = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'";
    wait_until(|| holder.value(backends) == "0", || "the copy's backend stays".into());
}

#[test]
fn copy_that_is_killed_while_it_makes_the_tables_leaves_none() {
    let (cluster, url) = with_plants();
    let file = on_a_file();
    let session = cluster.session("plants");
    let nothing_is_there = || {
        for command in ["export", "serve --listen 127.0.0.1:0 --no-create"] {
            let said = refusal(&url, command, &[]);
            assert!(said.contains("there is no plant store at"), "{command}: {said}");
        }
    };
    // The copy waits for the end of this transaction when it has made the other tables.
    session.execute("BEGIN; SET LOCAL ROLE plants; CREATE TABLE servers (id bigint)");
    kill_at_lock(&cluster, &session, begin_copy(&file, &url), nothing_is_there);
    nothing_is_there();
    assert_eq!(session.value(TABLES), "0");
    copy(&file, file.store(), &url);
    assert!(export(&file, &url) == export(&file, file.store()));
}

#[test]
fn copy_that_is_killed_while_it_writes_plants_leaves_the_tables_empty() {
    let (cluster, url) = with_plants();
    let file = on_a_file();
    drop(without_token(&url).start().stopped_by(Signal::SIGTERM));
    let session = cluster.session("plants");
    session.execute(
        "CREATE FUNCTION wait() RETURNS boolean LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN true; END';
        ALTER TABLE plants ADD CHECK (id <> 2000 OR wait())",
    );
    // The copy waits for the end of this transaction when it has written its first page.
    session.execute("BEGIN; SELECT pg_advisory_xact_lock(1)");
    let is_empty = || assert!(export(&file, &url).is_empty());
    kill_at_lock(&cluster, &session, begin_copy(&file, &url), is_empty);
    is_empty();
    assert_eq!(session.value("SELECT count(*) FROM tokens"), "0");
    copy(&file, file.store(), &url);
    assert!(export(&file, &url) == export(&file, file.store()));
}

#[test]
fn copy_into_a_store_that_is_served_or_holds_something_is_refused_and_changes_nothing() {
    let (cluster, url) = with_plants();
    let file = on_a_file();
    let refused = |what: &str| {
        let said = refused_copy(&file, &url);
        assert!(said.contains("there is something at") && said.contains("left as it is"), "{said}");
        let plants = cluster.session("plants").value("SELECT count(*) FROM plants");
        assert_eq!(plants, if what == "a plant" { "1" } else { "0" }, "{what}");
    };
    let server = without_token(&url).start();
    refused("served");
    server.command(&["token", "create", "ci"]);
    let stopped = server.stopped_by(Signal::SIGTERM);
    refused("a token");
    let session = cluster.session("plants");
    session.execute("DELETE FROM tokens; INSERT INTO plants (id, name) VALUES (1, 'Ficus')");
    refused("a plant");
    session.execute("DELETE FROM plants; INSERT INTO plant_store_schema (version) VALUES (999)");
    refused("a newer schema");
    session.execute("DROP TABLE plant_store_schema");
    refused("the table of another program");
    drop(stopped);
}

/// Each command but `serve` and `copy`, and what it is given.
const COMMANDS: [&str; 5] =
    ["export", "check", "token list", "token create ci", "token revoke first"];

/// The SQL that makes a store of that version, with the plants and the token of the one in SQLite.
fn kept(version: u32) -> String {
    let file = format!("e2e/postgres/schemas/{version}.sql");
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).expect(&file)
}

/// So a backup is possible before the upgrade, with the release that brings it.
#[test]
fn store_of_every_version_is_copied_exported_and_checked_and_brought_up_to_date_by_serve_alone() {
    for version in 1..=newest() {
        let (cluster, url) = with_plants();
        let session = cluster.session("plants");
        session.execute(&format!("SET ROLE plants; {}", kept(version)));
        let tables = session.value(TABLES);
        let file = Starting::on(folder_with(version), TOKEN).start();
        let checked = file.command(&["check", "--store", &url]);
        // If the schema changed without a new version, nothing would bring this one up to date.
        assert!(checked.contains("is sound; plants: 4, tokens: 1"), "version {version}: {checked}");
        let exported = file.command(&["export"]);
        assert_eq!(export(&file, &url), exported, "version {version}");
        copy(&file, &url, "sqlite:copy.db");
        assert_eq!(export(&file, "sqlite:copy.db"), exported, "version {version}");
        file.command(&["token", "list", "--store", &url]);
        if version != newest() {
            let expected =
                format!("has schema version {version}, and this release needs {}", newest());
            for command in ["token create ci", "token revoke first"] {
                let said = refusal(&url, command, &[]);
                assert!(said.contains(&expected), "{command}: {said}");
                let advice = "`plant-store serve` brings it up to date";
                assert!(said.contains(advice), "{command}: {said}");
            }
        }
        assert_eq!(session.value(TABLES), tables, "version {version}");
        let server = Starting::on(Folder::over(&url), TOKEN).start();
        assert_eq!(server.command(&["export"]), exported, "version {version}");
        server.create(&plant(3, "Fern", None)).plant();
        let checked = server.command(&["check"]);
        assert!(checked.contains("is sound; plants: 5, tokens: 1"), "version {version}: {checked}");
    }
}

/// As a newer release finds a store in which a member has no column yet.
#[test]
fn column_that_a_store_lacks_is_read_as_null() {
    let (cluster, url) = with_plants();
    let session = cluster.session("plants");
    session.execute(&format!("SET ROLE plants; {}; ALTER TABLE plants DROP tag", kept(1)));
    let server = on_a_file();
    assert!(export(&server, &url).contains("{\"id\":1,\"name\":\"Monstera deliciosa\"}\n"));
}

#[test]
fn newer_schema_is_refused_by_serve_and_by_every_command() {
    let (cluster, url) = with_plants();
    drop(without_token(&url).start().stopped_by(Signal::SIGTERM));
    let session = cluster.session("plants");
    session.execute("INSERT INTO plant_store_schema (version) VALUES (999)");
    let copy = format!("copy --from {url} --to sqlite:copy.db");
    let serve = "serve --listen 127.0.0.1:0";
    for command in COMMANDS.iter().chain(&[copy.as_str(), serve]) {
        let said = refusal(&url, command, &[]);
        let expected = format!("has schema version 999, and this release knows {}", newest());
        assert!(said.contains(&expected), "{command}: {said}");
        assert!(said.contains("use the release that wrote it"), "{command}: {said}");
    }
    assert_eq!(session.value("SELECT count(*) FROM tokens"), "0");
}
