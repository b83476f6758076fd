//! What makes a 200 untrue is found before it is given, and said: a table that a crash empties,
//! triggers, rules, another table in front of the store's, and time-outs that end an export.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use plant_store_tests::postgres::Session;
use plant_store_tests::{Folder, Server, plant, wait_until};

use super::scene::{refusal, with_plants};

/// What does it, what takes it away, and the words for it.
const FAULTS: [(&str, &str, &str); 6] = [
    (
        "ALTER TABLE plants SET UNLOGGED",
        "ALTER TABLE plants SET LOGGED",
        "the table plants is UNLOGGED",
    ),
    (
        "ALTER TABLE tokens SET UNLOGGED",
        "ALTER TABLE tokens SET LOGGED",
        "the table tokens is UNLOGGED",
    ),
    (
        "CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN NEW.id := 7; RETURN NEW; END';
        CREATE TRIGGER changes BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION change()",
        "DROP FUNCTION change CASCADE",
        "the table plants has the trigger changes",
    ),
    (
        "CREATE RULE \"Swallow\" AS ON INSERT TO tokens DO INSTEAD NOTHING",
        "DROP RULE \"Swallow\" ON tokens",
        "the table tokens has the rule \"Swallow\"",
    ),
    (
        "ALTER TABLE plants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
        "ALTER TABLE plants DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY",
        "the table plants has row-level security",
    ),
    // In `search_path` the schema with the name of the role comes first.
    (
        "CREATE SCHEMA plants; GRANT USAGE ON SCHEMA plants TO plants;
        CREATE TABLE plants.plants (LIKE public.plants INCLUDING ALL);
        GRANT ALL ON plants.plants TO plants",
        "DROP SCHEMA plants CASCADE",
        "the schema plants has a table plants in front of that of the store, which is in the schema \
         public",
    ),
];

#[test]
fn unsafe_tables_are_not_sound_and_not_served() {
    let (cluster, url) = with_plants();
    let server = Server::starting_in(Folder::over(&url)).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let folder = Folder::over(&url);
    drop(server);
    let session = cluster.session("plants");
    for (fault, repair, expected) in FAULTS {
        session.execute(fault);
        let said = refusal(&url, "check", &[]);
        assert!(said.contains(&format!("is not sound: {expected}")), "{fault}: {said}");
        let said = refusal(&url, "serve --listen 127.0.0.1:0", &[]);
        assert!(said.contains(expected), "{fault}: {said}");
        session.execute(repair);
        let checked = folder.command().arg("check").output().expect("the binary starts");
        assert!(checked.status.success(), "{repair}");
    }
}

/// Otherwise a backup would be empty, or hold a part of the plants.
#[test]
fn plants_that_a_policy_hides_are_not_left_out_of_a_copy() {
    let (cluster, url) = with_plants();
    let server = Server::starting_in(Folder::over(&url)).start();
    server.create(&plant(1, "Ficus", None)).plant();
    drop(server);
    let hide = "ALTER TABLE plants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY";
    cluster.session("plants").execute(hide);
    for command in [&format!("copy --from {url} --to sqlite:copy.db")[..], "export"] {
        let said = refusal(&url, command, &[]);
        assert!(said.contains("row-level security"), "{command}: {said}");
        assert!(said.contains("BYPASSRLS") && !said.contains("GRANT"), "{command}: {said}");
    }
}

#[test]
fn table_that_becomes_unsafe_under_the_server_is_503_until_it_is_repaired() {
    let (cluster, url) = with_plants();
    let server = Server::starting_in(Folder::over(&url)).start();
    let session = cluster.session("plants");
    let status = || server.create(&plant(1, "Ficus", None)).status;
    for (fault, repair, expected) in FAULTS {
        server.wait_until("a create", || status() == 200);
        session.execute(fault);
        server.wait_for_log(&expected.replace('"', "\\\""));
        let (error, _) = server.create(&plant(2, "Fern", None)).refusal();
        assert_eq!(error, 503, "{fault}");
        session.execute(repair);
    }
    server.wait_until("a create", || status() == 200);
}

/// A partition may have a trigger that its table does not have. The ids that come back say it.
#[test]
fn plants_that_are_stored_under_another_id_are_never_200() {
    let (cluster, url) = with_plants();
    let server = Server::starting_in(Folder::over(&url)).start();
    let session = cluster.session("plants");
    session.execute(
        "SET ROLE plants; DROP TABLE plants;
        CREATE TABLE plants (id bigint PRIMARY KEY, name bytea NOT NULL, tag bytea)
            PARTITION BY RANGE (id);
        CREATE TABLE all_plants PARTITION OF plants DEFAULT;
        CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN NEW.id := 7; RETURN NEW; END';
        CREATE TRIGGER changes BEFORE INSERT ON all_plants FOR EACH ROW EXECUTE FUNCTION change()",
    );
    assert_eq!(server.create(&plant(1, "Ficus", None)).refusal().0, 500);
    server.wait_for_log("under other ids than were sent");
    for id in 2..=3 {
        assert!(server.create(&plant(id, "Fern", None)).refusal().0 >= 500);
    }
    session.execute("DELETE FROM plants; DROP FUNCTION change CASCADE");
    server.create(&plant(2, "Fern", None)).plant();
}

/// How many sessions of the service have held a transaction for longer than the time-out.
const IDLE: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'
    AND state LIKE 'idle in transaction%' AND state_change < now() - interval '500 ms'";

#[test]
fn export_outlasts_the_time_outs_of_the_database() {
    let (cluster, url) = with_plants();
    drop(Server::starting_in(Folder::over(&url)).start());
    let session = cluster.session("plants");
    let plants = 20_000;
    session.execute(&format!(
        "INSERT INTO plants (id, name)
            SELECT id, convert_to(repeat('Ficus ', 100), 'UTF8') FROM generate_series(1, {plants}) id"
    ));
    let limits = cluster.session("postgres");
    for limit in
        ["idle_in_transaction_session_timeout", "idle_session_timeout", "statement_timeout"]
    {
        limits.execute(&format!("ALTER DATABASE plants SET {limit} = '200ms'"));
    }
    let folder = Folder::over(&url);
    let mut command = folder.command();
    let mut export = command.arg("export").stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(export.stdout.take().expect("it is piped"));
    lines.read_line(&mut String::new()).expect("a plant");
    // The pipe is full, so the export waits for its reader, and the database for the export.
    wait_for_idle(&limits);
    assert_eq!(lines.lines().count(), plants - 1);
    assert!(export.wait().expect("it ends").success());
}

fn wait_for_idle(session: &Session) {
    wait_until(|| session.value(IDLE) == "1", || "no transaction is idle".into());
}
