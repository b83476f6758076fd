use super::*;

fn parsed(text: &str) -> PostgresUrl {
    PostgresUrl::parse(text).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn password_is_in_no_output() {
    for text in [
        "postgres://ada:secret@db.example:5433/plants",
        "postgresql://ada@db.example:5433/plants?password=secret",
    ] {
        let url = parsed(text);
        assert_eq!(url.shown, "postgres://ada@db.example:5433/plants");
        assert!(!format!("{url:?} {:?}", url.hosts).contains("secret"));
        assert_eq!(url.hosts[0].get_password(), Some(&b"secret"[..]));
    }
    for wrong in [
        "postgres://ada:sec@secret@db.example/plants",
        "postgres://ada:secret@db.example/plants?port=secret",
        "postgres://ada:secret@db.example/plants?secret",
        "postgres://ada:se?secret@db.example/plants",
        "postgres://ada@db.example/plants?password=first&secret=2",
        "postgres://ada:secret/plants",
        "postgres://ada@db.example/plants?sslrootcert=secret",
    ] {
        assert_eq!(PostgresUrl::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn several_hosts_keep_their_ports_and_order() {
    let url = parsed("postgres://ada@a:1,[::1]:2,c/plants?target_session_attrs=read-write");
    assert_eq!(url.shown, "postgres://ada@a:1,[::1]:2,c/plants");
    assert_eq!(url.hosts.iter().map(|host| host.get_ports()[0]).collect::<Vec<_>>(), [1, 2, 5432]);
}

#[test]
fn host_is_local_only_if_nothing_leaves_this_machine() {
    for (text, expected) in [
        ("postgres://127.0.0.1/plants", true),
        ("postgres://localhost,[::1]/plants", true),
        ("postgres:///plants?host=%2Frun%2Fpostgresql", true),
        ("postgres://db.example/plants", false),
        ("postgres://localhost/plants?hostaddr=192.0.2.1", false),
    ] {
        assert!(parsed(text).hosts.iter().all(|host| is_local(host) == expected), "{text}");
    }
}

#[test]
fn host_and_database_have_no_default() {
    for text in
        ["postgres://", "postgres://db.example", "postgres://db.example/", "postgres:///plants"]
    {
        assert_eq!(PostgresUrl::parse(text), None, "{text}");
    }
}
