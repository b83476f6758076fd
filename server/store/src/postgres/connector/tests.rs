use super::*;

fn parsed(text: &str) -> PostgresUrl {
    PostgresUrl::parse(text).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn password_is_never_shown() {
    for text in [
        "postgres://ada:secret@db.example:5433/books",
        "postgresql://ada@db.example:5433/books?password=secret",
    ] {
        let url = parsed(text);
        assert_eq!(url.shown, "postgres://ada@db.example:5433/books");
        assert!(!format!("{url:?} {:?}", url.hosts).contains("secret"));
        assert_eq!(url.hosts[0].get_password(), Some(&b"secret"[..]));
    }
    for wrong in [
        "postgres://ada:sec@secret@db.example/books",
        "postgres://ada:secret@db.example/books?port=secret",
        "postgres://ada:secret@db.example/books?secret",
        "postgres://ada:se?secret@db.example/books",
        "postgres://ada@db.example/books?password=first&secret=2",
        "postgres://ada:secret/books",
        "postgres://ada@db.example/books?sslrootcert=secret",
    ] {
        assert_eq!(PostgresUrl::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn several_hosts_keep_their_ports_and_order() {
    let url = parsed("postgres://ada@a:1,[::1]:2,c/books?target_session_attrs=read-write");
    assert_eq!(url.shown, "postgres://ada@a:1,[::1]:2,c/books");
    assert_eq!(url.hosts.iter().map(|host| host.get_ports()[0]).collect::<Vec<_>>(), [1, 2, 5432]);
}

#[test]
fn host_is_local_only_if_its_connections_stay_on_this_machine() {
    for (text, expected) in [
        ("postgres://127.0.0.1/books", true),
        ("postgres://localhost,[::1]/books", true),
        ("postgres:///books?host=%2Frun%2Fpostgresql", true),
        ("postgres://db.example/books", false),
        ("postgres://localhost/books?hostaddr=192.0.2.1", false),
    ] {
        assert!(parsed(text).hosts.iter().all(|host| is_local(host) == expected), "{text}");
    }
}

#[test]
fn host_and_database_have_no_default() {
    for text in
        ["postgres://", "postgres://db.example", "postgres://db.example/", "postgres:///books"]
    {
        assert_eq!(PostgresUrl::parse(text), None, "{text}");
    }
}
