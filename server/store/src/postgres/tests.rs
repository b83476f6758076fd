//! The messages for an operator whose database cannot be used. No test here needs a database.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use tempfile::NamedTempFile;

use super::*;

static NAMES: Names = Names { program: "book-shelf", table: "books", application_id: *b"BKS" };

fn refused(url: &str, ca: Option<&Path>) -> String {
    let url = PostgresUrl::parse(url).expect("the URL of a database");
    open_to_read(&NAMES, &url, ca).err().expect("there is no store").to_string()
}

#[test]
fn authority_file_without_a_certificate_is_refused() {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(b"no certificate\n").expect("a line");
    let message = refused("postgres://books@127.0.0.1:1/books", Some(file.path()));
    let expected = format!(
        "postgres://books@127.0.0.1:1/books: cannot read the certificates of its authority: {}: \
         it contains no certificate: name a PEM file with the authority's certificate",
        file.path().display()
    );
    assert_eq!(message, expected);
}

#[test]
fn database_without_tls_is_refused_with_advice() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a connection");
        // The protocol's SSLRequest.
        socket.read_exact(&mut [0; 8]).expect("a request");
        socket.write_all(b"N").expect("an answer");
    });
    let message = refused(&format!("postgres://u@127.0.0.1:{port}/d?sslmode=require"), None);
    assert!(message.contains("server does not support TLS: set `ssl = on`"), "{message}");
    assert!(message.contains("`?sslmode=disable`"), "{message}");
    server.join().expect("no panic");
}
