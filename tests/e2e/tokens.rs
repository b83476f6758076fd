//! `plant-store token`: issue, list and revoke. Creating or revoking a token takes two seconds, so
//! each test does it rarely.

use std::fs;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use nix::sys::signal::Signal;
use plant_store_tests::{Server, bearer, binary_in, failure, plant, run};
use serde_json::Value;

use crate::database;

fn refused(server: &Server, words: &[&str]) -> String {
    let (status, stderr) = failure(binary_in(server.folder()).args(words));
    assert_eq!(status, Some(1), "{words:?}");
    stderr
}

/// The store contains only the first characters and the digest of the token.
#[test]
fn token_create_prints_only_the_token_and_does_not_store_it() {
    let server = Server::start();
    let output = run(server.folder(), &["token", "create", "ci"]);
    assert!(output.status.success());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.ends_with(" accepts the token ci, which never expires\n"), "{stderr}");
    let printed = String::from_utf8(output.stdout).expect("text");
    let token = printed.strip_suffix('\n').expect("a line");
    assert!(token.starts_with("pst_") && token.len() == 42, "{token}");
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{token}");

    let secret = &token.as_bytes()["pst_".len()..];
    for entry in fs::read_dir(server.folder()).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let bytes = fs::read(&path).expect("a file");
        assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{}", path.display());
    }
    let stored = database::tokens(&server);
    let contains = |bytes: &[u8]| stored.windows(bytes.len()).any(|window| window == bytes);
    assert!(contains(&token.as_bytes()[..8]) && !contains(secret));
}

/// The token is revoked and created again while no server runs.
#[test]
fn token_name_is_unique_until_revoked() {
    let server = Server::start();
    let before = server.command(&["token", "list", "--json"]);
    let taken = refused(&server, &["token", "create", "first"]);
    assert!(taken.contains(r#"a token named "first" already exists"#), "{taken}");
    let unknown = refused(&server, &["token", "revoke", "FIRST"]);
    assert!(unknown.contains(r#"there is no token named "FIRST""#), "{unknown}");
    assert_eq!(server.command(&["token", "list", "--json"]), before);

    let stopped = server.stopped_by(Signal::SIGTERM);
    for words in [["token", "revoke", "first"], ["token", "create", "first"]] {
        assert!(run(stopped.folder(), &words).status.success(), "{words:?}");
    }
}

/// The database refuses a second token, as if another command had taken the name in the meantime.
#[test]
fn printed_token_that_cannot_be_stored_is_not_accepted() {
    let server = Server::start();
    database::execute(&server, "CREATE UNIQUE INDEX one ON tokens ((created_at IS NULL))");
    let output = run(server.folder(), &["token", "create", "ci"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).expect("text");
    let expected = "plant-store: the printed token could not be stored (";
    assert!(stderr.starts_with(expected), "{stderr}");
    let token = String::from_utf8(output.stdout).expect("text");
    let refused = server.create_with(&bearer(token.trim_end()), &plant(1, "Ficus", None));
    assert_eq!(refused.error(), 401);
    server.create(&plant(1, "Ficus", None)).plant();
}

#[test]
fn token_list_shows_names_first_characters_and_times() {
    let server = Server::start();
    let ci = server.command(&["token", "create", "ci", "--expires-in", "90d"]);
    let json = server.command(&["token", "list", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&json).expect("a JSON array");
    let [ci_listed, first] = listed.as_slice() else { panic!("two tokens, by name: {json}") };
    assert_eq!((&ci_listed["name"], &first["name"]), (&"ci".into(), &"first".into()));
    assert_eq!(ci_listed["first_characters"], ci[..8]);
    assert_eq!(first["first_characters"], server.token[..8]);
    let members = |token: &Value| token.as_object().expect("an object").len();
    assert_eq!((members(ci_listed), members(first)), (5, 4), "the first never expires: {json}");
    let lifetime = "SELECT expires_at - created_at FROM tokens WHERE name = 'ci'";
    let seconds = database::number(&server, lifetime);
    // Both times are stored in seconds, and the expiry is rounded up.
    let days = 90 * 24 * 60 * 60;
    assert!((days..=days + 1).contains(&seconds), "{seconds}");

    let table = server.command(&["token", "list"]);
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
    let words = ["token", "create", "brief", "--expires-in", "60s 900ms"];
    let output = run(server.folder(), &words);
    let stored = database::number(&server, "SELECT expires_at FROM tokens WHERE name = 'brief'");
    let expiry = DateTime::from_timestamp(stored, 0).expect("a time");
    let lifetime = expiry - issued;
    assert!(lifetime >= TimeDelta::milliseconds(60_900), "{lifetime}");
    let stderr = String::from_utf8(output.stderr).expect("text");
    let shown = expiry.to_rfc3339_opts(SecondsFormat::Secs, true);
    assert!(stderr.ends_with(&format!("token brief, which expires at {shown}\n")), "{stderr}");
}

#[test]
fn token_list_expiring_lists_tokens_that_expire_within_a_time() {
    let server = Server::start();
    let listed = |within| server.command(&["token", "list", "--json", "--expiring", within]);
    assert_eq!(listed("10y").trim(), "[]", "the token never expires");
    let in_an_hour = Utc::now().timestamp() + 3600;
    let expires = format!("UPDATE tokens SET expires_at = {in_an_hour} WHERE name = 'first'");
    database::execute(&server, &expires);
    assert_eq!(listed("59min").trim(), "[]");
    assert!(listed("61min").contains(r#""name": "first""#));
}

/// A person may paste a token, so no message repeats the argument.
#[test]
fn token_revoke_accepts_names_and_tokens() {
    let server = Server::start();
    let printed = server.command(&["token", "create", "ci"]);
    let ci = printed.trim_end();
    let before = server.command(&["token", "list"]);
    let unknown = format!("{}_", &ci[..41]);
    for (words, expected) in [
        (["revoke", "first", &unknown], "nothing was revoked: there is no such token"),
        (["revoke", "first", &ci[..8]], "nothing was revoked: there is no such token"),
        (["revoke", "first", "other"], r#"nothing was revoked: there is no token named "other""#),
        (["create", "--expires-in=1d", ci], "a name that starts with pst_ may be a token"),
    ] {
        let stderr = refused(&server, &[&["token"], &words[..]].concat());
        assert!(stderr.contains(expected) && !stderr.contains(&ci[8..20]), "{stderr}");
        assert_eq!(server.command(&["token", "list"]), before, "nothing was changed");
    }

    let revoked = run(server.folder(), &["token", "revoke", ci, "ci", ci]);
    let stderr = String::from_utf8_lossy(&revoked.stderr);
    assert!(stderr.starts_with("revoked ci in ") && stderr.lines().count() == 1, "{stderr}");
    assert!(!server.command(&["token", "list"]).contains("ci "));
}

/// The log and the list name the expired token, and its name is taken until it is revoked.
#[test]
fn expired_token_keeps_its_name_until_it_is_revoked() {
    let server = Server::start();
    let minute_ago = Utc::now().timestamp() - 60;
    let expired = format!("UPDATE tokens SET expires_at = {minute_ago} WHERE name = 'first'");
    database::execute(&server, &expired);
    assert!(server.command(&["token", "list"]).contains(" (expired)"));
    let json = server.command(&["token", "list", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&json).expect("a JSON array");
    assert_eq!(listed[0]["expired"], true);

    let plant = plant(1, "Ficus", None);
    server.wait_until("401", || server.create(&plant).status != 200);
    server.wait_for_log("\"error\":401");
    let log = server.log();
    let line = log.lines().find(|line| line.contains("\"error\":401")).expect("a record");
    let record: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!((&record["level"], &record["token"]), (&"info".into(), &"first".into()));
    assert_eq!(record["cause"], "the token has expired");

    // The name stays taken, because the clock of this machine may be wrong.
    let stderr = refused(&server, &["token", "create", "first"]);
    assert!(stderr.contains(r#"a token named "first" already exists: revoke it"#), "{stderr}");
    assert_eq!(server.command(&["token", "list", "--json"]), json);
    server.command(&["token", "revoke", "first"]);
    let token = server.command(&["token", "create", "first"]);
    assert!(!server.command(&["token", "list"]).contains("expired"));
    server.create_with(&bearer(token.trim_end()), &plant).plant();
}

/// The token is checked before the body, and again after it.
#[test]
fn token_revoked_while_a_body_is_sent_creates_nothing() {
    let server = Server::start();
    let token = server.command(&["token", "create", "ci"]);
    let request =
        plant_store_tests::post(&bearer(token.trim_end()), plant(1, "Ficus", None).as_bytes());
    let (most, last) = request.split_at(request.len() - 1);
    let mut connection = server.connect();
    connection.send(most);
    server.command(&["token", "revoke", "ci"]);
    connection.send(last);
    assert_eq!(connection.receive().error(), 401);
    assert!(server.export().is_empty());
}
