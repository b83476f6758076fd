//! How the service starts: on a database that is down, that is not a store or not safe, that asks
//! for a password, or that is reached over TLS. What an operator has to correct is said at once, in
//! one line without the password, and the exit status is 1.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use plant_store_tests::postgres::{Cluster, Mode};
use plant_store_tests::tls::{Authority, CERT, KEY};
use plant_store_tests::{Folder, Server, Starting, bearer, plant};
use tempfile::TempDir;

use super::scene::{TABLES, as_owner, refusal, with_plants, without_password};
use crate::connections::Crowd;
use crate::metrics::{get, metrics_address};
use crate::monitoring::assert_monitoring_names_the_series_of;
use crate::sqlite::schemas::TOKEN;

/// The password of the owner, if the cluster asks for one.
const PASSWORD: &str = "s3cret%1";

/// `plant-store serve` on that store, without a password of the person who runs the tests.
fn serve(url: &str) -> Starting {
    Server::starting_in(Folder::over(url)).command(without_password)
}

const SERVE: &str = "serve --listen 127.0.0.1:0";

/// What another program of the same owner may have made.
const FOREIGN_TABLE: &str = "SET ROLE plants; CREATE TABLE plants (height integer)";

#[test]
fn database_that_is_down_is_503_and_the_first_token_is_printed_once_it_is_there() {
    let (cluster, url) = with_plants();
    cluster.stop(Mode::Fast);
    let flags = ["--metrics", "127.0.0.1:0"];
    let mut server = Starting::on(Folder::over(&url), TOKEN).with(&flags).start();
    let metrics = metrics_address(&server);
    let ficus = plant(1, "Ficus", None);
    assert_eq!(server.create(&ficus).refusal().0, 503);
    assert_eq!(server.create_with("", &ficus).refusal().0, 401);
    assert_eq!(get(metrics, "/ready").status, 503);
    assert_eq!(get(metrics, "/live").status, 200);

    cluster.start_again();
    server.wait_for_first_token();
    server.wait_until("/ready", || get(metrics, "/ready").status == 200);
    server.create(&ficus).plant();
    assert_eq!(server.create_with(&bearer(TOKEN), &ficus).refusal().0, 401);
}

#[test]
fn monitoring_names_each_series_that_is_served_and_no_other() {
    let (_cluster, url) = with_plants();
    let flags = ["--metrics", "127.0.0.1:0", "--max-rate", "1"];
    let server = Server::starting_in(Folder::over(&url)).with(&flags).start();
    assert_monitoring_names_the_series_of(&server);
}

/// The service's sessions on the database do not count as clients, even if they are opened after
/// the limit on open files is set.
#[test]
fn clients_get_all_their_connections_where_the_database_comes_later() {
    const MOST: usize = 20;
    let (cluster, url) = with_plants();
    cluster.stop(Mode::Fast);
    let most = MOST.to_string();
    let starting = Starting::on(Folder::over(&url), TOKEN).with(&["--max-connections", &most]);
    let mut server = starting.start();
    cluster.start_again();
    server.wait_for_first_token();
    server.create(&plant(1, "Ficus", None)).plant();
    let _crowd = Crowd::of(2 * MOST, server.address);
    server.wait_for_log("connection limit reached");
}

/// It is found only when the database is there.
#[test]
fn database_that_was_down_and_holds_something_else_ends_the_service_with_status_1() {
    let (cluster, url) = with_plants();
    cluster.session("plants").execute(FOREIGN_TABLE);
    cluster.stop(Mode::Fast);
    let mut server = Starting::on(Folder::over(&url), TOKEN).start();
    cluster.start_again();
    assert_eq!(server.wait().code(), Some(1));
    assert!(server.log().contains("is not a plant store"), "{}", server.log());
    assert_eq!(server.printed(), "");
}

#[test]
fn missing_database_is_refused_with_what_to_do() {
    let (cluster, _) = with_plants();
    for command in [SERVE, "export", "token create ci"] {
        let said = refusal(&as_owner(&cluster.url("ferns")), command, &[]);
        assert!(said.contains("database \"ferns\" does not exist"), "{said}");
        assert!(said.contains("createdb"), "{said}");
    }
}

#[test]
fn tables_of_another_program_are_refused_and_unchanged() {
    let (cluster, url) = with_plants();
    let session = cluster.session("plants");
    session.execute(FOREIGN_TABLE);
    let tables = "SELECT string_agg(table_name || '.' || column_name, ' ')
        FROM information_schema.columns WHERE table_schema = 'public'";
    for (command, expected) in [
        (SERVE, "is not a plant store"),
        ("serve --listen 127.0.0.1:0 --no-create", "there is no plant store at"),
        ("export", "there is no plant store at"),
        ("token create ci", "there is no plant store at"),
    ] {
        let said = refusal(&url, command, &[]);
        assert!(said.contains(expected), "{command}: {said}");
        assert_eq!(session.value(tables), "plants.height", "{command}");
    }
}

#[test]
fn database_that_does_not_sync_is_refused_and_served_with_a_warning_by_without_fsync() {
    let (cluster, url) = with_plants();
    for setting in ["fsync", "full_page_writes"] {
        cluster.set(setting, "off");
        let said = refusal(&url, SERVE, &[]);
        let expected = format!("the database has {setting}=off");
        assert!(said.contains(&expected) && said.contains("--without-fsync"), "{said}");
        assert_eq!(cluster.session("plants").value(TABLES), "0", "nothing is created");
        cluster.set(setting, "on");
    }
    cluster.set("fsync", "off");
    let server = serve(&url).with(&["--without-fsync"]).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let log = server.log();
    let warning = log.lines().find(|line| line.contains("--without-fsync")).expect("a warning");
    assert!(
        warning.contains("\"level\":\"warning\"") && warning.contains("power cut"),
        "{warning}"
    );
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

/// A passfile with that password for every database.
fn passfile(folder: &TempDir, password: &str, mode: u32) -> String {
    let file = folder.path().join("passfile");
    fs::write(&file, format!("# ours\n*:*:plants:plants:{password}\n")).expect("a file");
    fs::set_permissions(&file, Permissions::from_mode(mode)).expect("it is ours");
    file.into_os_string().into_string().expect("text")
}

/// `url` with the password, as a URL has it.
fn with(password: &str, url: &str) -> String {
    url.replace("plants@", &format!("plants:{}@", password.replace('%', "%25")))
}

#[test]
fn password_is_taken_from_the_url_the_environment_or_a_passfile() {
    let (_cluster, url) = with_password();
    let folder = TempDir::new().expect("a temporary folder");
    let file = passfile(&folder, PASSWORD, 0o600);
    let server = serve(&with(PASSWORD, &url)).start();
    for (id, (parameter, variable)) in (1..).zip([
        ("", ("PGPASSWORD", PASSWORD)),
        ("", ("PGPASSFILE", file.as_str())),
        (format!("?passfile={file}").as_str(), ("PGPASSFILE", "/nowhere")),
    ]) {
        let other = Starting::on(Folder::over(&format!("{url}{parameter}")), &server.token);
        let other = other.command(|command| {
            without_password(command);
            command.env(variable.0, variable.1);
        });
        let other = other.start();
        // A server on a busy machine may start before the database has answered.
        let body = plant(id, "Ficus", None);
        other.wait_until("a create", || other.create(&body).status == 200);
        assert!(!other.log().contains(PASSWORD));
    }
    assert_eq!(server.export().len(), 3);
    assert!(!server.log().contains(PASSWORD));
}

#[test]
fn wrong_or_missing_password_is_refused_with_what_to_do_and_not_shown() {
    let (_cluster, url) = with_password();
    let wrong = "wr0ng";
    let folder = TempDir::new().expect("a temporary folder");
    let file = passfile(&folder, wrong, 0o600);
    for (url, variables) in [
        (&with(wrong, &url), &[][..]),
        (&url, &[("PGPASSWORD", wrong)]),
        (&url, &[("PGPASSFILE", &file)]),
        (&url, &[]),
    ] {
        for command in [SERVE, "export"] {
            let said = refusal(url, command, variables);
            assert!(said.contains("password"), "{said}");
            assert!(said.contains("PGPASSWORD") && said.contains("passfile"), "{said}");
            assert!(!said.contains(wrong), "{said}");
        }
    }
}

#[test]
fn passfile_that_others_may_read_or_that_is_missing_is_refused() {
    let (_cluster, url) = with_password();
    let folder = TempDir::new().expect("a temporary folder");
    for mode in [0o640, 0o604] {
        let file = passfile(&folder, PASSWORD, mode);
        let said = refusal(&url, SERVE, &[("PGPASSFILE", &file)]);
        let expected = format!("cannot read {file}: others may use it: chmod 600");
        assert!(said.contains(&expected) && !said.contains(PASSWORD), "{said}");
    }
    let said = refusal(&format!("{url}?passfile=/nowhere/file"), SERVE, &[]);
    assert!(said.contains("cannot read /nowhere/file: No such file"), "{said}");
}

#[test]
fn missing_grant_is_refused_with_the_rights_that_the_role_needs() {
    let (cluster, url) = with_plants();
    drop(serve(&url).start());
    cluster.session("plants").execute("CREATE ROLE guest LOGIN");
    let of_guest = url.replace("plants@", "guest@");
    for command in ["serve --no-create --listen 127.0.0.1:0", "export"] {
        let said = refusal(&of_guest, command, &[]);
        assert!(said.contains("permission denied for table"), "{said}");
        assert!(said.contains("GRANT the role SELECT, INSERT and UPDATE on plants"), "{said}");
    }
}

/// Has the server speak TLS, with a certificate of that authority for that name.
fn speak_tls(cluster: &Cluster, authority: &Authority, name: &str) {
    let data = cluster.session("postgres").value("SHOW data_directory");
    let data = Path::new(&data);
    authority.issue_for(name, data);
    let owner = fs::metadata(data).expect("the folder is there");
    for (file, default) in [(CERT, "server.crt"), (KEY, "server.key")] {
        let default = data.join(default);
        fs::rename(data.join(file), &default).expect("the folder takes files");
        chown(default, Some(owner.uid()), Some(owner.gid())).expect("it is ours");
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
fn certificate_is_trusted_by_sslrootcert_for_its_name_alone() {
    let (cluster, url) = with_plants();
    let folder = TempDir::new().expect("a temporary folder");
    let authority = Authority::new();
    let [ours, others] = [("ours.pem", &authority), ("others.pem", &Authority::new())]
        .map(|(name, authority)| root(&folder, name, authority));
    speak_tls(&cluster, &authority, "127.0.0.1");
    let server = serve(&format!("{url}?sslrootcert={ours}")).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'plant-store'";
    assert_eq!(cluster.session("postgres").value(encrypted), "t");
    let said = refusal(&format!("{url}?sslmode=require"), "export", &[]);
    assert!(said.contains("sslrootcert"), "the machine does not trust it: {said}");
    for mode in ["verify-full", "verify-ca", "require"] {
        let untrusted = format!("{url}?sslmode={mode}&sslrootcert={others}");
        let said = refusal(&untrusted, "export", &[]);
        assert!(said.contains("invalid peer certificate"), "{mode}: {said}");
        assert!(said.contains("in the URL, by sslrootcert=FILE"), "{mode}: {said}");
    }

    speak_tls(&cluster, &authority, "localhost");
    for mode in ["verify-full", "verify-ca", "require"] {
        let url = format!("{url}?sslmode={mode}&sslrootcert={ours}");
        for command in [SERVE, "export"] {
            let said = refusal(&url, command, &[]);
            assert!(
                said.contains("certificate not valid for name \"127.0.0.1\""),
                "{mode}: {said}"
            );
        }
        let by_name = Folder::over(&url.replace("127.0.0.1", "localhost"));
        assert!(
            by_name.command().arg("export").output().expect("it starts").status.success(),
            "{mode}"
        );
    }
}

/// This is also not tried again: an operator has to correct it.
#[test]
fn tls_that_is_asked_for_is_never_plain_text() {
    let (cluster, url) = with_plants();
    cluster.set("log_connections", "on");
    let connections = || cluster.log().matches("connection received").count();
    let folder = TempDir::new().expect("a temporary folder");
    let ours = root(&folder, "ours.pem", &Authority::new());
    for parameters in [format!("sslmode=require&sslrootcert={ours}"), format!("sslrootcert={ours}")]
    {
        for command in [SERVE, "export"] {
            let before = connections();
            let said = refusal(&format!("{url}?{parameters}"), command, &[]);
            assert!(said.contains("server does not support TLS"), "{said}");
            assert_eq!(connections() - before, 1, "{command}");
        }
    }
    let missing = refusal(&format!("{url}?sslrootcert=/nowhere/ca.pem"), SERVE, &[]);
    assert!(missing.contains("/nowhere/ca.pem"), "{missing}");
    assert_eq!(cluster.session("plants").value(TABLES), "0");
}
