use tokio_postgres::config::SslMode::{Disable, Require};

use super::*;

fn parsed(text: &str) -> PostgresUrl {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn password_is_in_no_output() {
    for text in [
        "postgres://ada:secret@db.example:5433/plants",
        "postgresql://ada@db.example:5433/plants?password=secret",
    ] {
        let url = parsed(text);
        assert_eq!(url.to_string(), "postgres://ada@db.example:5433/plants");
        assert!(!format!("{url:?} {:?}", url.hosts()).contains("secret"));
        assert_eq!(url.hosts()[0].get_password(), Some(&b"secret"[..]));
    }
    for wrong in [
        "postgres://ada:sec@secret@db.example/plants",
        "postgres://ada:secret@db.example/plants?port=secret",
        "postgres://ada:secret@db.example/plants?secret",
        "postgres://ada@db.example/plants?password=first&secret=2",
        "postgres://ada:secret/plants",
    ] {
        let error = wrong.parse::<PostgresUrl>().expect_err(wrong).to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn several_hosts_keep_their_ports_and_order() {
    let url = parsed("postgres://ada@a:1,[::1]:2,c/plants?target_session_attrs=read-write");
    assert_eq!(url.to_string(), "postgres://ada@a:1,[::1]:2,c:5432/plants");
}

#[test]
fn tls_is_required_off_this_machine_and_never_opportunistic() {
    for (text, mode) in [
        ("postgres://127.0.0.1/plants", Disable),
        ("postgres://localhost,[::1]/plants", Disable),
        ("postgres:///plants?host=%2Frun%2Fpostgresql", Disable),
        ("postgres://localhost/plants?sslmode=require", Require),
        ("postgres://localhost/plants?sslrootcert=ca.pem", Require),
        ("postgres://db.example/plants", Require),
        ("postgres://localhost,db.example/plants", Require),
        ("postgres://localhost/plants?hostaddr=192.0.2.1", Require),
        ("postgres://db.example/plants?sslmode=verify-full&sslrootcert=ca.pem", Require),
        ("postgres://db.example/plants?sslmode=disable", Disable),
    ] {
        assert_eq!(parsed(text).hosts()[0].get_ssl_mode(), mode, "{text}");
    }
    for mode in ["allow", "prefer"] {
        let error = format!("postgres://db.example/plants?sslmode={mode}");
        let error = error.parse::<PostgresUrl>().expect_err(mode);
        assert_eq!(error, InvalidPostgresUrl::OpportunisticTls(mode.to_owned()));
    }
    let unknown = "postgres://db.example/plants?sslmode=on".parse::<PostgresUrl>();
    assert_eq!(unknown, Err(InvalidPostgresUrl::UnknownSslMode));
    let url = parsed("postgres://db.example/plants?sslrootcert=%2Fetc%2Fca.pem");
    assert_eq!(url.roots(), Some(&PathBuf::from("/etc/ca.pem")));
}

#[test]
fn host_and_database_have_no_default() {
    for text in ["postgres://", "postgres://db.example", "postgres:///plants"] {
        let error = text.parse::<PostgresUrl>().expect_err(text);
        assert_eq!(error, InvalidPostgresUrl::NoHostOrDatabase, "{text}");
    }
}
