//! How the service starts: on a database that is down, that is not a store or not safe, that asks
//! for a password, or that is reached over TLS. What an operator has to correct is said at once, in
//! one line without the password, and the exit status is 1.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;
use std::thread;

use nix::sys::signal::Signal;
use plant_store_tests::postgres::{Cluster, Mode, Session};
use plant_store_tests::tls::{Authority, CERT, KEY};
use plant_store_tests::{
    Folder, Server, Starting, plant, signalled, wait_until, without_own_variables,
};
use tempfile::TempDir;

use super::scene::{TABLES, as_owner, refusal, with_plants, without_password};
use crate::metrics::{get, metrics_address};
use crate::monitoring::assert_monitoring_names_the_series_of;
use crate::without_store::readmes::text;

/// The password of the owner, if the cluster asks for one.
const PASSWORD: &str = "s3cret%1";

/// `plant-store serve` on that store, without a password of the person who runs the tests.
fn serve(url: &str) -> Starting {
    Server::starting_in(Folder::over(url)).command(without_password)
}

const SERVE: &str = "serve --listen 127.0.0.1:0";

#[test]
fn database_that_is_down_is_waited_for_and_the_service_listens_once_it_is_there() {
    let (cluster, url) = with_plants();
    cluster.stop(Mode::Fast);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let metrics = listener.local_addr().expect("it has an address");
    // The service listens there next.
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
fn wait_for_a_database_ends_at_a_signal() {
    let database = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = database.local_addr().expect("it has an address");
    let (said, status) = signalled(
        Folder::over(&format!("postgres://plants@{address}/plants"))
            .command()
            .args(SERVE.split(' ')),
        || drop(database.accept().expect("the service connects")),
        Signal::SIGTERM,
    );
    assert_eq!(status.code(), Some(0), "{said}");
}

#[test]
fn monitoring_names_each_series_that_is_served_and_no_other() {
    let (_cluster, url) = with_plants();
    let flags = ["--metrics", "127.0.0.1:0", "--max-rate", "1"];
    let server = Server::starting_in(Folder::over(&url)).with(&flags).start();
    assert_monitoring_names_the_series_of(&server);
}

#[test]
fn what_an_operator_has_to_correct_is_said_by_every_command_and_left_as_it_is() {
    let (cluster, url) = with_plants();
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
        (url.replace("plants@", "guest@"), "GRANT the role SELECT, INSERT and UPDATE on plants"),
    ] {
        let copy = format!("copy --from {url} --to sqlite:copy.db");
        for command in [SERVE, "export", "check", "token list", "token create ci", &copy] {
            let said = refusal(&url, command, &[]);
            assert!(said.contains(expected), "{command}: {said}");
        }
    }
    for database in ["strange", "newer"] {
        assert_eq!(cluster.session(database).value(TABLES), "1", "{database}");
    }
}

/// PostgreSQL says the same when another server makes the table.
#[test]
fn name_of_a_table_that_a_type_has_is_said_by_a_start() {
    let (cluster, url) = with_plants();
    cluster.session("plants").execute("CREATE TYPE plants AS ENUM ()");
    let said = refusal(&url, SERVE, &[]);
    assert!(said.contains("type \"plants\" already exists (SQLSTATE 42710)"), "{said}");
}

#[test]
fn database_that_does_not_sync_is_refused() {
    let (cluster, url) = with_plants();
    for setting in ["fsync", "full_page_writes"] {
        cluster.set(setting, "off");
        let said = refusal(&url, SERVE, &[]);
        assert!(said.contains(&format!("the database has {setting}=off")), "{said}");
        assert_eq!(cluster.session("plants").value(TABLES), "0", "nothing is created");
        cluster.set(setting, "on");
    }
}

/// The same, but the cluster asks the owner for the password.
fn with_password() -> (Cluster, String) {
    let (cluster, url) = with_plants();
    let session = cluster.session("postgres");
    session.execute("SET password_encryption = 'scram-sha-256'");
    session.execute(&format!("ALTER ROLE plants PASSWORD '{PASSWORD}'"));
    let rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
    fs::write(session.value("SHOW hba_file"), rules).expect("the file is there");
    // Has the server read its files.
    cluster.set("log_connections", "on");
    (cluster, url)
}

/// The blocks of that kind on the page for operators.
fn blocks(kind: &str) -> Vec<String> {
    let page = text("server/POSTGRESQL.md");
    let begin = format!("```{kind}\n");
    let blocks = page.split(&begin).skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// Runs the statements one by one: CREATE DATABASE may not be in a transaction.
fn execute(session: &Session, statements: &str) {
    for statement in statements.split(';').filter(|statement| !statement.trim().is_empty()) {
        session.execute(statement);
    }
}

#[test]
fn role_of_the_page_serves_and_one_that_may_only_read_is_not_ready_and_is_told_why() {
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
    let said = || String::from_utf8(ready().body).expect("text");
    server.wait_until("why", || said().contains("permission denied for table plants"));
    assert!(said().contains("GRANT the role") && ready().status == 503, "{}", said());
    execute(&owner, &sql[1]);
    server.wait_until("ready", || ready().status == 200);
    for table in ["plants", "tokens"] {
        owner.execute(&format!("REVOKE SELECT ON {table} FROM plants"));
        let denied = format!("permission denied for table {table}");
        // A server that is ready learns it by the next create.
        server.wait_until("a refusal", || server.create(&plant(1, "Ficus", None)).status != 200);
        server.wait_until("why", || said().contains(&denied) && said().contains("GRANT the role"));
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
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("permission denied for table {table}")), "{said}");
        execute(&owner, &sql[1]);
    }
}

/// `url` with the password, as a URL has it.
fn with(password: &str, url: &str) -> String {
    url.replace("plants@", &format!("plants:{}@", password.replace('%', "%25")))
}

#[test]
fn password_is_taken_from_the_url_or_the_environment_and_never_shown() {
    let (_cluster, url) = with_password();
    let server = serve(&with(PASSWORD, &url)).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let starting = Starting::on(Folder::over(&url), &server.token).command(|command| {
        command.env("PGPASSWORD", PASSWORD);
    });
    let other = starting.start();
    other.create(&plant(1, "Ficus", None)).plant();
    assert!(![server, other].iter().any(|server| server.log().contains(PASSWORD)));
    let wrong = "wr0ng";
    for (url, variables) in
        [(&with(wrong, &url), &[][..]), (&url, &[("PGPASSWORD", wrong)]), (&url, &[])]
    {
        for command in [SERVE, "export"] {
            let said = refusal(url, command, variables);
            assert!(said.contains("password") && said.contains("PGPASSWORD"), "{said}");
            assert!(!said.contains(wrong), "{said}");
        }
    }
}

/// The file of the units of systemd, which a shell reads too.
#[test]
fn command_of_the_page_takes_the_password_from_the_file_of_the_service() {
    let (_cluster, url) = with_password();
    drop(serve(&with(PASSWORD, &url)).start());
    let page = text("server/POSTGRESQL.md");
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

/// Has the server speak TLS, with a certificate of that authority for that name.
fn speak_tls(cluster: &Cluster, authority: &Authority, name: &str) {
    let data = cluster.session("postgres").value("SHOW data_directory");
    let folder = Path::new(&data);
    authority.issue_for(name, folder);
    let owner = fs::metadata(folder).expect("the folder is there");
    for (file, default) in [(CERT, "server.crt"), (KEY, "server.key")] {
        let path = folder.join(default);
        fs::rename(folder.join(file), &path).expect("the folder takes files");
        chown(path, Some(owner.uid()), Some(owner.gid())).expect("it is ours");
    }
    // Also has the server read the files.
    cluster.set("ssl", "on");
}

/// The file of an authority's certificate.
fn root(folder: &TempDir, name: &str, authority: &Authority) -> String {
    let file = folder.path().join(name);
    fs::write(&file, authority.pem()).expect("a file");
    file.into_os_string().into_string().expect("text")
}

#[test]
fn certificate_is_trusted_by_store_ca_for_its_name_alone() {
    let (cluster, url) = with_plants();
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
        let said = refusal(&url, &command, &[]);
        assert!(said.contains("invalid peer certificate"), "{command}: {said}");
        assert!(said.contains("--store-ca FILE"), "{command}: {said}");
    }

    speak_tls(&cluster, &authority, "localhost");
    for command in [SERVE, "export"] {
        let said = refusal(&url, &format!("{command} --store-ca {ours}"), &[]);
        assert!(said.contains("certificate not valid for name \"127.0.0.1\""), "{said}");
    }
    let by_name = Folder::over(&url.replace("127.0.0.1", "localhost"));
    let exported = by_name.command().args(["export", "--store-ca", &ours]).output();
    assert!(exported.expect("it starts").status.success());
}

/// This is also not tried again: an operator has to correct it.
#[test]
fn tls_that_is_asked_for_is_never_plain_text() {
    let (cluster, url) = with_plants();
    cluster.set("log_connections", "on");
    let connections = || cluster.log().matches("connection received").count();
    let folder = TempDir::new().expect("a temporary folder");
    let ours = root(&folder, "ours.pem", &Authority::new());
    let required = format!("{url}?sslmode=require");
    for (url, ca) in [(&required, ""), (&url, &*format!(" --store-ca {ours}"))] {
        for command in [SERVE, "export"] {
            let before = connections();
            let said = refusal(url, &format!("{command}{ca}"), &[]);
            assert!(said.contains("server does not support TLS"), "{said}");
            assert_eq!(connections() - before, 1, "{command}");
        }
    }
    let missing = refusal(&url, &format!("{SERVE} --store-ca /nowhere/ca.pem"), &[]);
    assert!(missing.contains("/nowhere/ca.pem"), "{missing}");
    assert_eq!(cluster.session("plants").value(TABLES), "0");
}
