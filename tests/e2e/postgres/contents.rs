//! The content of a database: whether it is a sound store, and what `export` and `copy` read from
//! it and write to it.

use plant_store_tests::postgres::{Cluster, Session};
use plant_store_tests::prelude::*;

use super::{as_owner, cluster_with_database, create_database, wait_until_blocked_by};
use crate::database;
use crate::operators::killed::kill_copies;

/// The number of plants between the others. They are read and written in several pages.
const MANY: usize = 2500;

/// Creates a store without a token in that database.
fn create_store(url: &str) {
    let starting = Starting::on(Folder::over(url), "").with(&["--first-token", "none"]);
    drop(starting.start().stopped_by(Signal::SIGTERM));
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

/// Copies the store of a server, with these flags.
fn copy(server: &Server, to: &str, flags: &str) -> Ended {
    server.run(&format!("copy --from {} --to {to} {flags}", server.store()))
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
    let rows = [
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
        (
            "ALTER SYSTEM SET full_page_writes = off",
            "ALTER SYSTEM SET full_page_writes = on",
            "the database has full_page_writes=off",
        ),
    ];
    each_row(rows, |(fault, repair, expected)| {
        let is_sound = || server.run("check").code == Some(0);
        session.execute(fault);
        session.execute("SELECT pg_reload_conf()");
        wait_until(|| !is_sound(), || format!("sound after {fault}"));
        server.run("check").failed(1, &format!("is not sound: {expected}"));
        session.execute(repair);
        session.execute("SELECT pg_reload_conf()");
        wait_until(is_sound, || format!("not sound after {repair}"));
    });
    cluster.stop("fast");
    server.run("check").failed(2, " cannot be checked: cannot use");
    let report: Value = serde_json::from_str(&server.run("check --json").stdout).expect("JSON");
    assert_eq!(report["sound"], Value::Null, "{report}");
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
    let copy = format!("copy --from {standby_url} --to sqlite:copy.db --tokens from");
    server.run(&copy).succeeded();
    assert!(export(&server, "sqlite:copy.db") == exported);
    // A standby takes no writes. The token is printed, but it is never in force.
    let refused = server.run(&format!("token create ci --store {standby_url}"));
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("database does not allow writes"), "{refused:?}");
}

#[test]
pub fn copy_to_a_database_and_back_keeps_every_byte() {
    let (_cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    let exported = export(&file, file.store());
    assert_eq!(exported.lines().count(), MANY + 4);
    copy(&file, &url, "--tokens from").succeeded();
    assert!(export(&file, &url) == exported);
    file.run(&format!("copy --from {url} --to sqlite:back.db --tokens from")).succeeded();
    assert!(export(&file, "sqlite:back.db") == exported);
    // Clients see the copied plants as the same: a repeat gets 200, and a different plant 409.
    let served = Starting::on(Folder::over(&url), &file.token).start();
    for line in exported.lines().filter(|line| !line.contains("\"Ficus 1")) {
        served.create(line).plant();
    }
    assert_eq!(served.create(&plant(i64::MAX, "Fern", None)).error(), 409, "the tag is ''");
}

fn wait_until_the_copy_has_ended(session: &Session) {
    let backends = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'";
    wait_until(|| session.value(backends) == "0", || "the copy's backend stays".into());
}

#[test]
fn killed_copy_is_completed_with_add() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    create_store(&url);
    let session = cluster.session("plants");
    // This transaction blocks the copy after it has committed its first page.
    session.execute("BEGIN; INSERT INTO plants (id, json) VALUES (2000, '{}')");
    let mut command = binary_in(file.folder());
    command.args(["copy", "--from", file.store(), "--to", &url, "--tokens", "from"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut copying = command.spawn().expect("the binary starts");
    wait_until_blocked_by(&session, &cluster);
    copying.kill().expect("the process is ours");
    copying.wait().expect("the process can be waited for");
    session.execute("ROLLBACK");
    wait_until_the_copy_has_ended(&session);
    let part = export(&file, &url).lines().count();
    assert!((1..=MANY).contains(&part), "{part} plants");
    assert_eq!(session.value("SELECT count(*) FROM tokens"), "0", "tokens come last");

    let refused = copy(&file, &url, "--tokens from");
    refused.failed(1, "contains rows already");
    refused.failed(1, "--add");
    let stdout = copy(&file, &url, "--tokens from --add").succeeded();
    assert!(stdout.contains("accepts the token first\n"), "{stdout}");
    assert!(export(&file, &url) == export(&file, file.store()));
}

/// A second copy must not bring back a token that was revoked in the meantime.
#[test]
fn copy_of_tokens_to_a_database_with_tokens_is_refused() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    let served = Server::starting_in(Folder::over(&url)).start();
    for tokens in ["from", file.store()] {
        let refused = copy(&file, &url, &format!("--tokens {tokens}"));
        refused.failed(1, "accepts tokens already (first)");
        refused.failed(1, "`--tokens none`");
    }
    let session = cluster.session("plants");
    assert_eq!(session.value("SELECT count(*) FROM plants"), "0", "refused before the first plant");
    copy(&file, &url, "--tokens none").succeeded();
    assert!(export(&file, &url) == export(&file, file.store()));
    served.create(&plant(5, "Ivy", None)).plant();
    copy(&file, &url, "--tokens none").failed(1, "--add");
    copy(&file, &url, "--tokens none --add").succeeded();
    assert_eq!(export(&file, &url).lines().count(), MANY + 5);
    session.execute(r#"UPDATE plants SET json = '{"name":"Ivy"}' WHERE id = 11"#);
    let different = "contains a different row with the id 11, which is left unchanged";
    copy(&file, &url, "--tokens none --add").failed(1, different);
    assert!(session.value("SELECT json FROM plants WHERE id = 11").contains("Ivy"));
}

/// The same copy with --add completes the store. A token that the interrupted copy left may have
/// been revoked since.
#[test]
fn database_of_an_interrupted_copy_is_refused() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    copy(&file, &url, "--tokens from").succeeded();
    // The database is as a kill before the last statement of the copy would leave it.
    cluster.session("plants").execute("DELETE FROM plant_store_schema WHERE version = 1");
    for words in ["check", "serve", "export"] {
        let refused = run(Folder::over(&url).command().arg(words));
        let code = if words == "check" { 2 } else { 1 };
        refused.failed(code, "was interrupted, so some rows are missing");
        refused.failed(code, "--add");
    }
    file.command(&["token", "create", "new"]);
    file.command(&["token", "revoke", "first"]);
    copy(&file, &url, "--tokens from --add").succeeded();
    assert!(export(&file, &url) == export(&file, file.store()));
    let tokens = |store: &str| file.command(&["token", "list", "--store", store]);
    assert_eq!(tokens(&url), tokens(file.store()));
}

#[test]
fn killed_copy_to_a_database_is_whole_or_no_store() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    let session = cluster.session("plants");
    let remove_all = || {
        session.execute("DROP TABLE IF EXISTS plant_store_schema, plants, tokens");
    };
    kill_copies(&file, &url, "--add", remove_all, |_| wait_until_the_copy_has_ended(&session));
}
