//! The content of a database: whether it is a sound store, and what `export` and `copy` read from
//! it and write to it.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use plant_store_tests::postgres::{Cluster, Session};
use plant_store_tests::{Folder, Server, Starting, amount, binary_in, failure, plant, wait_until};
use serde_json::Value;
use tempfile::TempDir;

use super::scene::{
    as_owner, cluster_with_database, create_database, refusal, wait_until_blocked_by,
};
use crate::database;
use crate::operators::killed::kill_before_each_call;

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
    server.command(&["copy", "--from", from, "--to", to, "--tokens", "from"]);
}

/// Runs a copy of the server's store that must fail, and returns its stderr.
fn copy_fails(server: &Server, to: &str, flags: &[&str]) -> String {
    let mut command = binary_in(server.folder());
    command.args(["copy", "--from", server.store(), "--to", to]).args(flags);
    let (status, stderr) = failure(&mut command);
    assert_eq!(status, Some(1), "{stderr}");
    stderr
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
    cluster.stop("fast");
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
fn killed_copy_is_completed_with_add() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    drop(without_token(&url).start().stopped_by(Signal::SIGTERM));
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
    let backends = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'";
    wait_until(|| session.value(backends) == "0", || "the copy's backend stays".into());
    let part = export(&file, &url).lines().count();
    assert!((1..=MANY).contains(&part), "{part} plants");
    assert_eq!(session.value("SELECT count(*) FROM tokens"), "0", "tokens come last");

    let stderr = copy_fails(&file, &url, &["--tokens", "from"]);
    assert!(stderr.contains("contains rows already") && stderr.contains("--add"), "{stderr}");
    let copy = ["copy", "--from", file.store(), "--to", &url, "--tokens", "from", "--add"];
    let stdout = file.command(&copy);
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
        let stderr = copy_fails(&file, &url, &["--tokens", tokens]);
        assert!(stderr.contains("accepts tokens already (first)"), "{stderr}");
        assert!(stderr.contains("`--tokens none`"), "{stderr}");
    }
    let session = cluster.session("plants");
    assert_eq!(session.value("SELECT count(*) FROM plants"), "0", "refused before the first plant");
    let none = ["copy", "--from", file.store(), "--to", &url, "--tokens", "none"];
    file.command(&none);
    assert!(export(&file, &url) == export(&file, file.store()));
    served.create(&plant(5, "Ivy", None)).plant();
    let stderr = copy_fails(&file, &url, &["--tokens", "none"]);
    assert!(stderr.contains("--add"), "{stderr}");
    file.command(&[&none[..], &["--add"]].concat());
    assert_eq!(export(&file, &url).lines().count(), MANY + 5);
}

#[test]
fn copy_is_refused_at_a_different_plant_of_the_same_id() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    drop(without_token(&url).start().stopped_by(Signal::SIGTERM));
    let session = cluster.session("plants");
    session.execute("INSERT INTO plants (id, json) VALUES (11, '{\"name\":\"Ivy\"}')");
    let stderr = copy_fails(&file, &url, &["--tokens", "none", "--add"]);
    assert!(stderr.contains("11"), "the message names the id: {stderr}");
    assert!(session.value("SELECT json FROM plants WHERE id = 11").contains("Ivy"));
}

/// The same copy with --add completes the store. A token that the interrupted copy left may have
/// been revoked since.
#[test]
fn database_of_an_interrupted_copy_is_refused() {
    let (cluster, url) = cluster_with_database();
    let file = server_on_a_file();
    let session = cluster.session("plants");
    copy(&file, file.store(), &url);
    // The database is as a kill before the last statement of the copy would leave it.
    session.execute("DELETE FROM plant_store_schema WHERE version = 1");
    for command in ["check", "serve", "export"] {
        let stderr = refusal(&url, command, &[]);
        assert!(stderr.contains("was interrupted, so some rows are missing"), "{stderr}");
        assert!(stderr.contains("--add"), "{stderr}");
    }
    file.command(&["token", "create", "new"]);
    file.command(&["token", "revoke", "first"]);
    let copy = ["copy", "--from", file.store(), "--to", &url, "--tokens", "from", "--add"];
    file.command(&copy);
    assert!(export(&file, &url) == export(&file, file.store()));
    let tokens = |store: &str| file.command(&["token", "list", "--store", store]);
    assert_eq!(tokens(&url), tokens(file.store()));
}

/// A copy to a database that has no tables yet, killed again and again.
struct Killed {
    _cluster: Cluster,
    url: String,
    file: Server,
    exported: String,
    session: Session,
}

impl Killed {
    fn new() -> Self {
        let (cluster, url) = cluster_with_database();
        let file = server_on_a_file();
        let exported = export(&file, file.store());
        let session = cluster.session("plants");
        Self { _cluster: cluster, url, file, exported, session }
    }

    /// Removes all tables.
    fn prepare(&self) {
        self.session.execute("DROP TABLE IF EXISTS plant_store_schema, plants, tokens");
    }

    fn command(&self, flags: &[&str]) -> Command {
        let mut command = binary_in(self.file.folder());
        command.args(["copy", "--from", self.file.store(), "--to", &self.url]);
        command.args(["--tokens", "from"]).args(flags);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Checks the database after a kill: it is the whole store, or no store, and the same command
    /// with --add completes it. Returns whether it was whole.
    fn check(&self) -> bool {
        let backends =
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'";
        wait_until(|| self.session.value(backends) == "0", || "the copy's backend stays".into());
        let words = ["export", "--store", &self.url];
        let read = binary_in(self.file.folder()).args(words).output().expect("the binary starts");
        let is_whole = read.status.success();
        if is_whole {
            assert!(String::from_utf8_lossy(&read.stdout) == self.exported, "it is incomplete");
        } else {
            assert!(self.command(&["--add"]).status().expect("it runs").success());
            assert!(export(&self.file, &self.url) == self.exported);
        }
        assert_eq!(self.session.value("SELECT count(*) FROM tokens"), "1");
        assert!(export(&self.file, self.file.store()) == self.exported, "the source is unchanged");
        is_whole
    }
}

#[test]
fn killed_copy_to_a_database_is_whole_or_no_store() {
    let killed = Killed::new();
    kill_before_each_call(
        || {
            killed.prepare();
            TempDir::new().expect("a temporary folder")
        },
        |_| killed.command(&[]),
        |_| {
            killed.check();
        },
    );
}

#[test]
fn copy_to_a_database_killed_at_a_random_moment_is_whole_or_no_store() {
    let killed = Killed::new();
    let rounds = amount(5, 300);
    let mut whole = 0;
    for _ in 0..rounds {
        killed.prepare();
        let mut copying = killed.command(&[]).spawn().expect("the binary starts");
        // The sleep is the random moment; it waits for no event.
        thread::sleep(Duration::from_micros(rand::random_range(0..400_000)));
        copying.kill().expect("the process is ours");
        copying.wait().expect("the process can be waited for");
        whole += usize::from(killed.check());
    }
    println!("{rounds} kills, {whole} after the copy was complete");
}
