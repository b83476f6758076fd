//! Starts on a database that is down, that is not a store, that is not safe, that needs a password,
//! or that is reached over TLS. What an operator has to correct is reported at once, in one line
//! without the password, and the exit code is 1.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use nix::sys::signal::Signal;
use plant_store_tests::postgres::{Cluster, Session};
use plant_store_tests::tls::{Authority, CERT, KEY};
use plant_store_tests::{
    Folder, Server, Starting, plant, signalled, wait_until, without_own_variables,
};
use tempfile::TempDir;

use super::scene::{TABLES, as_owner, cluster_with_database, refusal, without_password};
use crate::metrics::{get, metrics_address};
use crate::monitoring::assert_monitoring_names_the_series_of;
use crate::without_store::readmes::text;

/// The password of the owner, if the cluster needs one.
const PASSWORD: &str = "s3cret%1";

/// Returns a server to be started on that store, without the password that whoever runs the tests
/// may have in the environment.
fn serve(url: &str) -> Starting {
    Server::starting_in(Folder::over(url)).command(without_password)
}

const SERVE: &str = "serve --listen 127.0.0.1:0";

#[test]
fn start_waits_for_a_database_that_is_down() {
    let (cluster, url) = cluster_with_database();
    cluster.stop("fast");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let metrics = listener.local_addr().expect("it has an address");
    // The service will listen on this port.
    drop(listener);
    let server = thread::scope(|scope| {
        let address = metrics.to_string();
        let starting = serve(&url).with(&["--metrics", &address]);
        let starting = scope.spawn(|| starting.start());
        wait_until(|| TcpStream::connect(metrics).is_ok(), || "no metrics".into());
        assert_eq!(get(metrics, "/live").status, 200);
        assert_eq!(get(metrics, "/ready").status, 503);
        assert!(!starting.is_finished());
        cluster.start_again();
        starting.join().expect("it starts")
    });
    server.create(&plant(1, "Ficus", None)).plant();
    server.wait_until("ready", || get(metrics, "/ready").status == 200);
}

#[test]
fn signal_ends_the_wait_for_a_database() {
    let database = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = database.local_addr().expect("it has an address");
    let (stderr, status) = signalled(
        Folder::over(&format!("postgres://plants@{address}/plants"))
            .command()
            .args(SERVE.split(' ')),
        || drop(database.accept().expect("the service connects")),
        Signal::SIGTERM,
    );
    assert_eq!(status.signal(), Some(Signal::SIGTERM as i32), "{stderr}");
}

#[test]
fn monitoring_page_names_exactly_the_served_series() {
    let (_cluster, url) = cluster_with_database();
    let flags = ["--metrics", "127.0.0.1:0"];
    let server = Server::starting_in(Folder::over(&url)).with(&flags).start();
    assert_monitoring_names_the_series_of(&server);
}

#[test]
fn bad_database_settings_are_reported_by_every_command() {
    let (cluster, url) = cluster_with_database();
    drop(serve(&url).start());
    let session = cluster.session("postgres");
    session.execute("CREATE ROLE guest LOGIN");
    session.execute("CREATE DATABASE latin OWNER plants ENCODING 'LATIN1' TEMPLATE template0");
    for (database, table) in [
        ("strange", "CREATE TABLE plants (height integer)"),
        ("newer", "CREATE TABLE plant_store_schema AS SELECT 999::bigint AS version"),
    ] {
        session.execute(&format!("CREATE DATABASE {database} OWNER plants"));
        cluster.session(database).execute(&format!("SET ROLE plants; {table}"));
    }
    let of_owner = |database| as_owner(&cluster.url(database));
    for (url, expected) in [
        (of_owner("ferns"), "\"ferns\" does not exist (SQLSTATE 3D000): create it with `createdb`"),
        (of_owner("latin"), "LATIN1, but a store needs UTF8: create a database with `createdb"),
        (of_owner("strange"), "is not a store"),
        (of_owner("newer"), "has layout version 999, but"),
        (url.replace("plants@", "guest@"), "GRANT the role SELECT, INSERT and UPDATE on"),
    ] {
        let copy = format!("copy --from {url} --to sqlite:copy.db --tokens none");
        for command in [SERVE, "export", "check", "token list", "token create ci", &copy] {
            let stderr = refusal(&url, command, &[]);
            assert!(stderr.contains(expected), "{command}: {stderr}");
        }
    }
    for database in ["strange", "newer"] {
        assert_eq!(cluster.session(database).value(TABLES), "1", "{database}");
    }
}

/// PostgreSQL reports the same error if another server is creating the table.
#[test]
fn start_reports_a_type_with_the_name_of_a_table() {
    let (cluster, url) = cluster_with_database();
    cluster.session("plants").execute("CREATE TYPE plants AS ENUM ()");
    let stderr = refusal(&url, SERVE, &[]);
    assert!(stderr.contains("type \"plants\" already exists (SQLSTATE 42710)"), "{stderr}");
}

#[test]
fn database_that_does_not_sync_is_refused() {
    let (cluster, url) = cluster_with_database();
    for setting in ["fsync", "full_page_writes"] {
        cluster.set(setting, "off");
        let stderr = refusal(&url, SERVE, &[]);
        assert!(stderr.contains(&format!("the database has {setting}=off")), "{stderr}");
        assert_eq!(cluster.session("plants").value(TABLES), "0", "nothing is created");
        cluster.set(setting, "on");
    }
}

/// Starts a cluster as [`cluster_with_database`] does, but the owner needs a password.
fn cluster_with_password() -> (Cluster, String) {
    let (cluster, url) = cluster_with_database();
    let session = cluster.session("postgres");
    session.execute("SET password_encryption = 'scram-sha-256'");
    session.execute(&format!("ALTER ROLE plants PASSWORD '{PASSWORD}'"));
    let rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
    fs::write(session.value("SHOW hba_file"), rules).expect("the file exists");
    // Changing a setting makes the server reload its files.
    cluster.set("log_connections", "on");
    (cluster, url)
}

/// Returns the code blocks of that language in STORES.md.
fn blocks(kind: &str) -> Vec<String> {
    let page = text("server/STORES.md");
    let begin = format!("```{kind}\n");
    let blocks = page.split(&begin).skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// Runs the statements one by one, because CREATE DATABASE cannot run in a transaction.
fn execute(session: &Session, statements: &str) {
    for statement in statements.split(';').filter(|statement| !statement.trim().is_empty()) {
        session.execute(statement);
    }
}

/// With a missing grant, the server is not ready and says why, or does not start.
#[test]
fn role_needs_exactly_the_grants_of_the_page() {
    let cluster = Cluster::start();
    let sql = blocks("sql");
    execute(&cluster.session("postgres"), &sql[0]);
    let of_role = |role: &str| cluster.url("plants").replace("//postgres@", &format!("//{role}@"));
    let stopped = serve(&of_role("plants_owner")).start();
    let token = stopped.token.clone();
    drop(stopped.stopped_by(Signal::SIGTERM));
    let owner = Session::open(&of_role("plants_owner"));
    execute(&owner, &sql[1]);
    let url = of_role("plants");
    let start = || {
        let starting = Starting::on(Folder::over(&url), &token).command(without_password);
        starting.with(&["--metrics", "127.0.0.1:0"]).start()
    };
    let server = start();
    for _ in 0..2 {
        server.create(&plant(1, "Ficus", None)).plant();
    }
    server.command(&["token", "create", "ci"]);
    server.command(&["token", "revoke", "ci"]);

    owner.execute("REVOKE INSERT, UPDATE (json) ON plants FROM plants");
    drop(server);
    let server = start();
    let ready = || get(metrics_address(&server), "/ready");
    let reason = || String::from_utf8(ready().body).expect("text");
    server.wait_until("why", || reason().contains("permission denied for table plants"));
    assert!(reason().contains("GRANT the role") && ready().status == 503, "{}", reason());
    execute(&owner, &sql[1]);
    server.wait_until("ready", || ready().status == 200);
    for table in ["plants", "tokens"] {
        owner.execute(&format!("REVOKE SELECT ON {table} FROM plants"));
        let denied = format!("permission denied for table {table}");
        // A server that is ready notices the missing grant at the next create.
        server.wait_until("a refusal", || server.create(&plant(1, "Ficus", None)).status != 200);
        server.wait_until("why", || {
            reason().contains(&denied) && reason().contains("GRANT the role")
        });
        assert_eq!(ready().status, 503);
        execute(&owner, &sql[1]);
        server.wait_until("ready", || ready().status == 200);
    }
    for table in ["plant_store_schema", "tokens"] {
        owner.execute(&format!("REVOKE SELECT ON {table} FROM plants"));
        let folder = Folder::over(&url);
        let mut command = folder.command();
        without_password(&mut command);
        let output = command.args(SERVE.split(' ')).output().expect("it starts");
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(&format!("permission denied for table {table}")), "{stderr}");
        execute(&owner, &sql[1]);
    }
}

/// Adds the password to the URL.
fn with_password(password: &str, url: &str) -> String {
    url.replace("plants@", &format!("plants:{}@", password.replace('%', "%25")))
}

#[test]
fn password_is_read_from_the_url_or_pgpassword_and_never_shown() {
    let (_cluster, url) = cluster_with_password();
    let server = serve(&with_password(PASSWORD, &url)).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let starting = Starting::on(Folder::over(&url), &server.token).command(|command| {
        command.env("PGPASSWORD", PASSWORD);
    });
    let other = starting.start();
    other.create(&plant(1, "Ficus", None)).plant();
    assert!(![server, other].iter().any(|server| server.log().contains(PASSWORD)));
    let wrong = "wr0ng";
    for (url, variables) in
        [(&with_password(wrong, &url), &[][..]), (&url, &[("PGPASSWORD", wrong)]), (&url, &[])]
    {
        for command in [SERVE, "export"] {
            let stderr = refusal(url, command, variables);
            assert!(stderr.contains("password") && stderr.contains("PGPASSWORD"), "{stderr}");
            assert!(!stderr.contains(wrong), "{stderr}");
        }
    }
}

/// The environment file is read by systemd, and by a shell too.
#[test]
fn command_of_the_page_reads_the_password_from_the_env_file() {
    let (_cluster, url) = cluster_with_password();
    drop(serve(&with_password(PASSWORD, &url)).start());
    let page = text("server/STORES.md");
    let command =
        blocks("sh").into_iter().find(|block| block.contains("set -a")).expect("a command");
    assert!(page.contains("PLANT_STORE_STORE='postgres://") && page.contains("PGPASSWORD='"));
    let folder = Folder::over(&url);
    let file = folder.path().join("plant-store.env");
    let settings = format!("PLANT_STORE_STORE='{url}'\nPGPASSWORD='{PASSWORD}'\n");
    fs::write(&file, settings).expect("a file");
    let binary = folder.command().get_program().display().to_string();
    let command = command
        .replace("/etc/plant-store.env", &file.display().to_string())
        .replace("plant-store token", &format!("{binary} token"));
    let mut shell = Command::new("sh");
    without_own_variables(&mut shell);
    without_password(&mut shell);
    let listed = shell.args(["-c", &command]).output().expect("a shell");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    assert!(String::from_utf8_lossy(&listed.stdout).contains("first "));
}

/// Enables TLS on the server, with a certificate that the authority has signed for that name.
fn speak_tls(cluster: &Cluster, authority: &Authority, name: &str) {
    let data = cluster.session("postgres").value("SHOW data_directory");
    let folder = Path::new(&data);
    authority.issue_for(name, folder);
    let owner = fs::metadata(folder).expect("the folder exists");
    for (file, default) in [(CERT, "server.crt"), (KEY, "server.key")] {
        let path = folder.join(default);
        fs::rename(folder.join(file), &path).expect("the file moves");
        chown(path, Some(owner.uid()), Some(owner.gid())).expect("it is ours");
    }
    // This setting also makes the server reload the files.
    cluster.set("ssl", "on");
}

/// Writes the certificate of an authority to a file, and returns its path.
fn root(folder: &TempDir, name: &str, authority: &Authority) -> String {
    let file = folder.path().join(name);
    fs::write(&file, authority.pem()).expect("a file");
    file.into_os_string().into_string().expect("text")
}

#[test]
fn certificate_is_verified_by_store_ca_and_by_name() {
    let (cluster, url) = cluster_with_database();
    let folder = TempDir::new().expect("a temporary folder");
    let authority = Authority::new();
    let [ours, others] = [("ours.pem", &authority), ("others.pem", &Authority::new())]
        .map(|(name, authority)| root(&folder, name, authority));
    speak_tls(&cluster, &authority, "127.0.0.1");
    let server = serve(&url).with(&["--store-ca", &ours]).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'plant-store'";
    assert_eq!(cluster.session("postgres").value(encrypted), "t");
    for (url, command) in [
        (format!("{url}?sslmode=require"), "export".to_owned()),
        (url.clone(), format!("export --store-ca {others}")),
    ] {
        let stderr = refusal(&url, &command, &[]);
        assert!(stderr.contains("invalid peer certificate"), "{command}: {stderr}");
        assert!(stderr.contains("--store-ca FILE"), "{command}: {stderr}");
    }

    speak_tls(&cluster, &authority, "localhost");
    for command in [SERVE, "export"] {
        let stderr = refusal(&url, &format!("{command} --store-ca {ours}"), &[]);
        assert!(stderr.contains("certificate not valid for name \"127.0.0.1\""), "{stderr}");
    }
    let by_name = Folder::over(&url.replace("127.0.0.1", "localhost"));
    let exported = by_name.command().args(["export", "--store-ca", &ours]).output();
    assert!(exported.expect("it starts").status.success());
}

/// The connection is not retried either, because an operator has to act.
#[test]
fn required_tls_never_falls_back_to_plain_text() {
    let (cluster, url) = cluster_with_database();
    cluster.set("log_connections", "on");
    let connections = || cluster.log().matches("connection received").count();
    let folder = TempDir::new().expect("a temporary folder");
    let ours = root(&folder, "ours.pem", &Authority::new());
    let required = format!("{url}?sslmode=require");
    for (url, ca) in [(&required, ""), (&url, &*format!(" --store-ca {ours}"))] {
        for command in [SERVE, "export"] {
            let before = connections();
            let stderr = refusal(url, &format!("{command}{ca}"), &[]);
            assert!(stderr.contains("server does not support TLS"), "{stderr}");
            assert_eq!(connections() - before, 1, "{command}");
        }
    }
    let missing = refusal(&url, &format!("{SERVE} --store-ca /nowhere/ca.pem"), &[]);
    assert!(missing.contains("/nowhere/ca.pem"), "{missing}");
    assert_eq!(cluster.session("plants").value(TABLES), "0");
}
