//! Starts on a database that is down, that is not a store, that is not safe, that needs a password,
//! or that is reached over TLS. What an operator has to correct is reported at once, in one line
//! without the password, and the exit code is 1.

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};

use plant_store_tests::postgres::{Cluster, Session};
use plant_store_tests::prelude::*;
use plant_store_tests::process::signalled;
use plant_store_tests::tls::{Authority, CERT, KEY};

use super::servers::{as_owner, cluster_with_database};
use crate::without_store::pages::text;

/// The password of the owner, if the cluster needs one.
const PASSWORD: &str = "s3cret%1";

/// Another password.
const WRONG: &str = "wr0ng";

/// Every command that opens a store. The word STORE stands for its URL and the flags for it.
const COMMANDS: [&str; 6] = [
    "serve --store STORE",
    "export --store STORE",
    "check --store STORE",
    "token list --store STORE",
    "token create ci --store STORE",
    "copy --to sqlite:copy.db --tokens none --from STORE",
];

fn serve(url: &str) -> Starting {
    Server::starting_in(Folder::over(url))
}

#[test]
fn start_waits_for_a_database_that_is_down() {
    let (cluster, url) = cluster_with_database();
    cluster.stop("fast");
    let starting = serve(&url).with_admin();
    let log_file = starting.log_file();
    let log = || fs::read_to_string(&log_file).unwrap_or_default();
    let server = thread::scope(|scope| {
        let starting = scope.spawn(|| starting.start());
        wait_until(|| log().contains("serving metrics"), || format!("no metrics:\n{}", log()));
        let line = log().lines().find(|line| line.contains("serving metrics")).map(str::to_owned);
        let record: Value = serde_json::from_str(&line.expect("a record")).expect("JSON");
        let metrics = record["address"].as_str().and_then(|address| address.parse().ok());
        let metrics = metrics.expect("an address");
        assert_eq!(get(metrics, "/live").status, 200);
        assert_eq!(get(metrics, "/ready").status, 503);
        assert!(!starting.is_finished());
        cluster.start_again();
        starting.join().expect("it starts")
    });
    server.create(&plant(1, "Ficus", None)).plant();
    server.wait_until("ready", || server.ready().0 == 200);
}

#[test]
fn signal_ends_the_wait_for_a_database() {
    let database = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = database.local_addr().expect("it has an address");
    let ended = signalled(
        &mut Folder::over(&format!("postgres://plants@{address}/plants")).command("serve"),
        || drop(database.accept().expect("the service connects")),
        Signal::SIGTERM,
    );
    assert_eq!(ended.signal, Some(Signal::SIGTERM as i32), "{ended:?}");
}

/// Asserts that the commands refuse each store, and what they report.
fn assert_refused(cluster: &Cluster, commands: &[&str], rows: &[(&str, &str)]) {
    let connections = || cluster.log().matches("connection received").count();
    each_row(rows, |(store, expected)| {
        for words in commands {
            let folder = TempDir::new().expect("a temporary folder");
            let words = words.replace("STORE", store);
            let before = connections();
            let refused = run(&mut binary_in(folder.path(), &words));
            refused.failed(if words.starts_with("check") { 2 } else { 1 }, expected);
            assert!(!refused.stderr.contains(WRONG), "{}", refused.stderr);
            // Trying again would not help, and required TLS never falls back to plain text.
            assert!(connections() - before <= 1, "{words} connects again");
        }
    });
}

#[test]
fn what_an_operator_has_to_correct_is_reported_by_every_command() {
    let (cluster, url) = cluster_with_database();
    drop(serve(&url).start());
    let session = cluster.session("postgres");
    session.execute(&format!(
        "CREATE ROLE guest LOGIN; SET password_encryption = 'scram-sha-256';
        CREATE ROLE secret LOGIN PASSWORD '{PASSWORD}'"
    ));
    session.execute("CREATE DATABASE latin OWNER plants ENCODING 'LATIN1' TEMPLATE template0");
    let others = [
        ("strange", "CREATE TABLE plants (height integer)"),
        ("shared", "CREATE TABLE geese (id bigint); CREATE TABLE tokens (name text)"),
        ("newer", "CREATE TABLE plant_store_schema AS SELECT 999::bigint AS version"),
        ("empty", "SELECT 1"),
    ];
    for (database, statement) in others {
        session.execute(&format!("CREATE DATABASE {database} OWNER plants"));
        cluster.session(database).execute(&format!("SET ROLE plants; {statement}"));
    }
    require_password(&cluster, "secret");
    let [missing, latin, strange, shared, newer, empty] =
        ["ferns", "latin", "strange", "shared", "newer", "empty"]
            .map(|database| as_owner(&cluster.url(database)));
    let [guest, secret, wrong] =
        ["guest@", "secret@", &format!("secret:{WRONG}@")].map(|user| url.replace("plants@", user));
    let tls = format!("{url}?sslmode=require");
    let folder = TempDir::new().expect("a temporary folder");
    let ours = format!("{url} --store-ca {}", root(&folder, "ours.pem", &Authority::new()));
    let no_database = "\"ferns\" does not exist (SQLSTATE 3D000): create it with `createdb";
    let encoding = "LATIN1, but a store needs UTF8: create a database with `createdb";
    let rows = [
        (&*missing, no_database),
        (&latin, encoding),
        (&strange, "is not a store"),
        (&shared, "is not a store"),
        (&newer, "has layout version 999, but"),
        (&guest, "GRANT the role SELECT, INSERT and UPDATE on"),
        (&secret, "PGPASSWORD"),
        (&wrong, "PGPASSWORD"),
        (&tls, "server does not support TLS: set `ssl = on`"),
        (&ours, "append `?sslmode=disable` to the URL"),
    ];
    assert_refused(&cluster, &COMMANDS, &rows);
    assert_refused(&cluster, &COMMANDS[1..], &[(&empty, "there is no store at")]);
    let tables = |database: &str| {
        cluster.session(database).rows("SELECT * FROM pg_tables WHERE schemaname = 'public'").len()
    };
    assert_eq!(["strange", "shared", "newer", "latin"].map(tables), [1, 2, 1, 0]);
    for setting in ["fsync", "full_page_writes"] {
        cluster.set(setting, "off");
        let expected = format!("the database has {setting}=off");
        assert_refused(&cluster, &COMMANDS[..1], &[(&empty, &expected)]);
        let check = Folder::over(&url).run("check");
        check.failed(1, &format!("is not sound: {expected}"));
        cluster.set(setting, "on");
    }
    assert_eq!(tables("empty"), 0, "nothing is created");
}

/// Lets the role connect only with its password.
fn require_password(cluster: &Cluster, role: &str) {
    let session = cluster.session("postgres");
    let rules =
        format!("host all {role} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n");
    fs::write(session.value("SHOW hba_file"), rules).expect("the file exists");
    // Changing a setting makes the server reload its files.
    cluster.set("log_connections", "on");
}

#[test]
fn password_is_read_from_the_url_or_pgpassword_and_never_shown() {
    let (cluster, url) = cluster_with_database();
    cluster.session("postgres").execute(&format!(
        "SET password_encryption = 'scram-sha-256'; ALTER ROLE plants PASSWORD '{PASSWORD}'"
    ));
    require_password(&cluster, "plants");
    let with_password = format!("plants:{}@", PASSWORD.replace('%', "%25"));
    let server = serve(&url.replace("plants@", &with_password)).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let starting = Starting::on(Folder::over(&url), &server.token).command(|command| {
        command.env("PGPASSWORD", PASSWORD);
    });
    let other = starting.start();
    other.create(&plant(1, "Ficus", None)).plant();
    assert!(![&server, &other].iter().any(|server| server.log().contains(PASSWORD)));
    let wrong = run(Folder::over(&url).command("export").env("PGPASSWORD", WRONG));
    wrong.failed(1, "PGPASSWORD");
    assert!(!wrong.stderr.contains(WRONG), "{}", wrong.stderr);
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
    let page = text("server/STORES.md");
    let mut sql = page.split("```sql\n").skip(1).filter_map(|block| block.split("```").next());
    let [create, rights] = [(); 2].map(|()| sql.next().expect("a block of SQL"));
    execute(&cluster.session("postgres"), create);
    let of_role = |role: &str| cluster.url("plants").replace("//postgres@", &format!("//{role}@"));
    let stopped = serve(&of_role("plants_owner")).start();
    let token = stopped.token.clone();
    drop(stopped.stopped_by(Signal::SIGTERM));
    let owner = Session::open(&of_role("plants_owner"));
    let grant = || execute(&owner, rights);
    grant();
    let url = of_role("plants");
    let start = || Starting::on(Folder::over(&url), &token).with_admin().start();
    let server = start();
    for _ in 0..2 {
        server.create(&plant(1, "Ficus", None)).plant();
    }
    server.run("token create ci").succeeded();
    server.run("token revoke ci").succeeded();

    let assert_not_ready = |server: &Server, denied: &str| {
        server.wait_until("why", || {
            let (status, why) = server.ready();
            status == 503 && why.contains(denied) && why.contains("GRANT the role")
        });
    };

    let serve = || Folder::over(&url).run("serve");
    // Whether a running server notices it at the next create, and whether a server starts.
    let rows = [
        ("INSERT, UPDATE (json) ON plants", false, Some(true)),
        ("SELECT ON plants", true, None),
        ("SELECT ON tokens", true, Some(false)),
        ("SELECT ON plant_store_schema", false, Some(false)),
    ];
    each_row(rows, |(grants, is_noticed, starts)| {
        let (_, table) = grants.rsplit_once(' ').expect("a table");
        let denied = format!("permission denied for table {table}");
        owner.execute(&format!("REVOKE {grants} FROM plants"));
        if is_noticed {
            let status = || server.create(&plant(1, "Ficus", None)).status;
            server.wait_until("a refusal", || status() != 200);
            assert_not_ready(&server, &denied);
        }
        match starts {
            Some(true) => assert_not_ready(&start(), &denied),
            Some(false) => serve().failed(1, &denied),
            None => {}
        }
        grant();
        server.wait_until("ready", || server.ready().0 == 200);
    });
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
        .map(|(name, authority)| format!("{url} --store-ca {}", root(&folder, name, authority)));
    let system = format!("{url}?sslmode=require");
    let unknown = "invalid peer certificate";
    let commands = &COMMANDS[..2];
    speak_tls(&cluster, &authority, "127.0.0.1");
    let flags: Vec<_> = ours.split(' ').skip(1).collect();
    let server = serve(&url).with(&flags).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'plant-store'";
    assert_eq!(cluster.session("postgres").value(encrypted), "t");
    let nowhere = format!("{url} --store-ca /nowhere/ca.pem");
    let empty = format!("{url} --store-ca /dev/null");
    let rows = [
        (&*system, unknown),
        (&others, unknown),
        (&others, "--store-ca FILE"),
        (&nowhere, "/nowhere/ca.pem"),
        (&empty, "/dev/null: it contains no certificate"),
    ];
    assert_refused(&cluster, commands, &rows);

    speak_tls(&cluster, &authority, "localhost");
    let other_name = "certificate not valid for name \"127.0.0.1\"";
    assert_refused(&cluster, commands, &[(&ours, other_name)]);
    let by_name = format!("export --store {}", ours.replace("127.0.0.1", "localhost"));
    run(&mut binary_in(folder.path(), &by_name)).succeeded();
}
