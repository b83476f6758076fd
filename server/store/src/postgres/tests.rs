//! What an operator is told whose database cannot be used. No test here needs a database.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use tempfile::NamedTempFile;

use super::*;
use crate::token_row::Malformed;

fn refused(url: &str, ca: Option<&Path>) -> String {
    let url = PostgresUrl::parse(url).expect("the URL of a database");
    open(&url, ca).err().expect("there is no store").to_string()
}

#[test]
fn file_of_an_authority_without_a_certificate_is_refused_before_a_connection() {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(b"no certificate\n").expect("a line");
    let said = refused("postgres://plants@127.0.0.1:1/plants", Some(file.path()));
    let expected = format!(
        "postgres://plants@127.0.0.1:1/plants: cannot read the certificates of its authority: {}: \
         it has no certificate: name a PEM file with that of the authority",
        file.path().display()
    );
    assert_eq!(said, expected);
}

#[test]
fn database_without_tls_is_refused_with_what_to_do() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a connection");
        // "SSLRequest" of the protocol.
        socket.read_exact(&mut [0; 8]).expect("a request");
        socket.write_all(b"N").expect("an answer");
    });
    let said = refused(&format!("postgres://u@127.0.0.1:{port}/d?sslmode=require"), None);
    assert!(said.contains("server does not support TLS: set `ssl = on`"), "{said}");
    assert!(said.contains("`?sslmode=disable`"), "{said}");
    server.join().expect("no panic");
}

#[test]
fn only_what_was_not_written_by_this_service_is_damage() {
    let url = StoreUrl::Postgres(PostgresUrl::parse("postgres://u@127.0.0.1/d").expect("a URL"));
    for (error, expected) in [
        (PostgresError::Unsafe("the database has fsync=off".into()), Reason::Other),
        (PostgresError::OtherEncoding("SQL_ASCII".into()), Reason::Other),
        (PostgresError::Malformed(Malformed), Reason::Damaged),
    ] {
        let said = error.to_string();
        assert_eq!(error.of_store(&url, OPEN).reason(), expected, "{said}");
    }
}
