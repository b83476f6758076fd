//! Tokens: issue, list and revoke, and until when one is accepted. Creating or revoking a token
//! takes two seconds, so each test does it rarely.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use plant_store_tests::prelude::*;

use crate::database;

/// Moves the expiry of a token to this number of seconds from now.
fn expire(server: &Server, name: &str, seconds: i64) {
    let at = Utc::now().timestamp() + seconds;
    let change = format!("UPDATE tokens SET expires_at = {at} WHERE name = '{name}'");
    database::execute(server, &change);
}

fn listed(server: &Server, flags: &str) -> Vec<Value> {
    let json = server.run(&format!("token list --json{flags}")).succeeded();
    serde_json::from_str(&json).expect("a JSON array")
}

/// A request in flight is refused when its body has arrived.
#[test]
fn new_token_is_accepted_until_it_expires_or_is_revoked() {
    let server = Server::start();
    let ficus = plant(1, "Ficus", None);
    let is_accepted = |token: &str| {
        let answer = server.create_with(&bearer(token), &ficus);
        answer.status == 200 || {
            let challenge = answer.header("www-authenticate").unwrap_or_default();
            let is_invalid = challenge.ends_with("error=\"invalid_token\"");
            assert!(answer.error() == 401 && is_invalid, "{answer:?}");
            false
        }
    };
    let brief = server.run("token create brief --expires-in 1h").succeeded();
    let brief = brief.trim_end();
    assert!(is_accepted(brief), "it is in force when the command returns");
    expire(&server, "brief", 0);
    server.wait_until("the expired token is refused", || !is_accepted(brief));
    assert!(is_accepted(&server.token), "the other token is still accepted");
    let mut in_flight = server.in_flight(&ficus);
    server.run("token revoke first").succeeded();
    assert_eq!(in_flight.exchange(ficus.as_bytes()).error(), 401);
    assert!(!is_accepted(brief) && !is_accepted(&server.token));
}

/// The store contains only the first characters and the digest of the token.
#[test]
fn token_create_prints_only_the_token_and_does_not_store_it() {
    let server = Server::start();
    let created = server.run("token create ci");
    created.expect(0, &created.stdout, " accepts the token ci, which never expires\n");
    let token = created.stdout.strip_suffix('\n').expect("a line");
    assert!(token.starts_with("pst_") && token.len() == 42, "{token}");
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{token}");
    let stored = database::tokens(&server);
    let mut bytes = stored.clone();
    for entry in fs::read_dir(server.folder()).expect("the folder is there") {
        bytes.extend(fs::read(entry.expect("an entry").path()).expect("a file"));
    }
    let contains = |bytes: &[u8], part: &str| {
        bytes.windows(part.len()).any(|window| window == part.as_bytes())
    };
    assert!(contains(&stored, &token[..8]) && !contains(&bytes, &token[4..]));
}

/// A person may paste a token, so no message repeats the argument.
#[test]
fn refused_change_changes_nothing_and_shows_no_token() {
    let server = Server::start();
    let ci = server.run("token create ci").succeeded();
    let ci = ci.trim_end();
    let before = server.run("token list").succeeded();
    let table = [
        ("create first", "\"first\""),
        ("revoke FIRST", "\"FIRST\""),
        ("revoke first other", "\"other\""),
        (&format!("revoke first {}_", &ci[..41]), "no such token"),
        (&format!("revoke first {}", &ci[..8]), "no such token"),
        (&format!("create --expires-in=1d {ci}"), "pst_"),
    ];
    each_row(table, |(words, named)| {
        let refused = server.run(&format!("token {words}"));
        refused.failed(1, named);
        assert!(!refused.stderr.contains(&ci[8..20]), "{refused:?}");
        assert_eq!(server.run("token list").succeeded(), before, "nothing was changed");
    });
    let revoked = server.run(&format!("token revoke {ci} ci {ci}"));
    revoked.expect(0, "", "revoked ci in ");
    assert_eq!(revoked.stderr.lines().count(), 1, "{revoked:?}");
    assert!(!server.run("token list").succeeded().contains("ci "));
    // The token is revoked and created again while no server runs.
    let stopped = server.stopped_by(Signal::SIGTERM);
    for words in ["token revoke first", "token create first"] {
        stopped.run(words).succeeded();
    }
}

/// The database refuses a second token, as if another command had taken the name in the meantime.
#[test]
fn printed_token_that_cannot_be_stored_is_not_accepted() {
    let server = Server::start();
    database::execute(&server, "CREATE UNIQUE INDEX one ON tokens ((created_at IS NULL))");
    let refused = server.run("token create ci");
    refused.expect(1, &refused.stdout, "plant-store: the printed token could not be stored (");
    let ficus = plant(1, "Ficus", None);
    let answer = server.create_with(&bearer(refused.stdout.trim_end()), &ficus);
    assert_eq!(answer.error(), 401);
    server.create(&ficus).plant();
}

#[test]
fn token_list_shows_names_first_characters_and_times() {
    let server = Server::start();
    let ci = server.run("token create ci --expires-in 90d").succeeded();
    let listed = listed(&server, "");
    let [ci_listed, first] = listed.as_slice() else { panic!("two tokens, by name: {listed:?}") };
    assert_eq!((&ci_listed["name"], &first["name"]), (&"ci".into(), &"first".into()));
    assert_eq!(ci_listed["first_characters"], ci[..8]);
    assert_eq!(first["first_characters"], server.token[..8]);
    let members = |token: &Value| token.as_object().expect("an object").len();
    assert_eq!((members(ci_listed), members(first)), (5, 4), "the first never expires");
    let table = server.run("token list").succeeded();
    let rows: Vec<Vec<_>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let row = |token: &Value, expires: &Value| {
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let start = format!("{}…", text(&token["first_characters"]));
        vec![text(&token["name"]), start, text(&token["created_at"]), text(expires)]
    };
    assert_eq!(rows[0], ["NAME", "TOKEN", "CREATED", "EXPIRES"]);
    assert_eq!(rows[1], row(ci_listed, &ci_listed["expires_at"]));
    assert_eq!(rows[2], row(first, &"never".into()));
    assert_eq!(rows.len(), 3);
}

/// Stores keep whole seconds. The expiry is printed for the person who hands the token out.
#[test]
fn expiry_is_rounded_up_and_printed_to_stderr() {
    let server = Server::start();
    let issued = Utc::now();
    let words = "token create brief --expires-in";
    let created = run(binary_in(server.folder(), words).arg("60s 900ms"));
    let stored = database::number(&server, "SELECT expires_at FROM tokens WHERE name = 'brief'");
    let expiry = DateTime::from_timestamp(stored, 0).expect("a time");
    assert!(expiry - issued >= TimeDelta::milliseconds(60_900), "{expiry}");
    let shown = expiry.to_rfc3339_opts(SecondsFormat::Secs, true);
    created.expect(0, &created.stdout, &format!("token brief, which expires at {shown}\n"));
}

/// The log and the list name the expired token. Its name stays taken until it is revoked, because
/// the clock of this machine may be wrong.
#[test]
fn expired_token_keeps_its_name_until_it_is_revoked() {
    let server = Server::start();
    assert!(listed(&server, " --expiring 10y").is_empty(), "the token never expires");
    expire(&server, "first", 3600);
    assert!(listed(&server, " --expiring 59min").is_empty());
    assert_eq!(listed(&server, " --expiring 61min")[0]["name"], "first");
    expire(&server, "first", -60);
    assert!(server.run("token list").succeeded().contains(" (expired)"));
    assert_eq!(listed(&server, "")[0]["expired"], true);

    let plant = plant(1, "Ficus", None);
    server.wait_until("401", || server.create(&plant).status != 200);
    let record = server.record(|record| record["error"] == 401);
    assert_eq!((&record["level"], &record["token"]), (&"info".into(), &"first".into()));
    assert_eq!(record["cause"], "the token has expired");

    server.run("token create first").failed(1, "\"first\" already exists: revoke it");
    server.run("token revoke first").succeeded();
    let token = server.run("token create first").succeeded();
    assert!(!server.run("token list").succeeded().contains("expired"));
    server.create_with(&bearer(token.trim_end()), &plant).plant();
}
