//! What `export` and `copy` read from a database and write to it.

use plant_store_tests::prelude::*;

use super::servers::{as_owner, cluster_with_database, start_with_hosts};
use crate::database;

/// The number of plants in a file, which are copied in several pages.
const MANY: i64 = 2500;

fn server_on_a_file() -> Server {
    let server = Server::start();
    database::insert(&server, 0..MANY);
    server
}

/// Copies the store of a server, with these flags.
fn copy(server: &Server, to: &str, flags: &str) -> Ended {
    server.run(&format!("copy --from {} --to {to} {flags}", server.store()))
}

fn export(server: &Server, url: &str) -> String {
    server.run(&format!("export --store {url}")).succeeded()
}

#[test]
fn export_and_copy_from_a_standby_equal_those_from_the_primary() {
    let (primary, url) = cluster_with_database();
    let standby = primary.standby();
    let standby_url = as_owner(&standby.url("plants"));
    // The server and its commands find the primary behind the standby.
    let server = start_with_hosts([standby.port(), primary.port()], "5s");
    server.run("token create ci").succeeded();
    server.run("token revoke ci").succeeded();
    assert!(!server.run("token list").succeeded().contains("ci"));
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
    served.create(&plant(-1, "Ivy", None)).plant();
    copy(&file, &url, "--tokens none").failed(1, "--add");
    copy(&file, &url, "--tokens none --add").succeeded();
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
    for (words, code) in [("check", 2), ("serve", 1), ("export", 1)] {
        let refused = Folder::over(&url).run(words);
        refused.failed(code, "was interrupted, so some rows are missing");
        refused.failed(code, "--add");
    }
    file.run("token create new").succeeded();
    file.run("token revoke first").succeeded();
    copy(&file, &url, "--tokens from --add").succeeded();
    assert!(export(&file, &url) == export(&file, file.store()));
    let tokens = |store: &str| file.run(&format!("token list --store {store}")).succeeded();
    assert_eq!(tokens(&url), tokens(file.store()));
}
