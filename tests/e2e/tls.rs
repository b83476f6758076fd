//! TLS: the protocols, the files and their reload, and misbehaving clients.

use std::os::unix::fs::PermissionsExt;
use std::sync::LazyLock;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use plant_store_client::client_with;
use plant_store_tests::new_plant;
use plant_store_tests::prelude::*;
use plant_store_tests::tls::{Authority, CERT, KEY, TLS};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::tls::{Certificate, TlsInfo};
use reqwest::{ClientBuilder, Response, Version};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads"));

/// Starts a server with TLS and these flags. Also returns the authority that issued its
/// certificate.
fn serving(flags: &[&str]) -> (Server, Authority) {
    let authority = Authority::new();
    let starting = Server::starting();
    authority.issue(starting.folder());
    (starting.with(&TLS).with(flags).start(), authority)
}

/// Returns an HTTP client that trusts only this authority, and sends the accepted token.
fn client(server: &Server, authority: &Authority) -> ClientBuilder {
    let header =
        |name: HeaderName, value: &str| (name, HeaderValue::try_from(value).expect("text"));
    let token = format!("Bearer {}", server.token);
    let headers = [header(AUTHORIZATION, &token), header(CONTENT_TYPE, "application/json")];
    let authority = Certificate::from_der(authority.der()).expect("a certificate");
    reqwest::Client::builder()
        .tls_certs_only([authority])
        .tls_info(true)
        .timeout(EVENT_TIMEOUT)
        .default_headers(HeaderMap::from_iter(headers))
}

/// Creates the plant 1.
fn create(server: &Server, client: &reqwest::Client) -> Response {
    let request = client.post(format!("{}/plants", server.url)).body(plant(1, "Ficus", None));
    let answer = RUNTIME.block_on(async { request.send().await }).expect("an answer");
    assert_eq!(answer.status(), 200);
    answer
}

/// Returns the server's certificate on the connection of this answer.
fn certificate(answer: &Response) -> Vec<u8> {
    let info = answer.extensions().get::<TlsInfo>().expect("the answer was sent over TLS");
    info.peer_certificate().expect("a server sends its certificate").to_owned()
}

/// Returns the server's certificate on a new connection.
fn current_certificate(server: &Server, authority: &Authority) -> Vec<u8> {
    let client = client(server, authority).build().expect("a client");
    certificate(&create(server, &client))
}

/// This client offers HTTP/2, too. A plain request to the same port gets no answer. Everybody can
/// cause that, so a warning could fill the disk that holds the log.
#[test]
fn tls_port_offers_only_http_1_1_over_tls() {
    let (server, authority) = serving(&[]);
    assert_eq!(server.url, format!("https://{}", server.address));
    let printed = server.first_request.as_deref().expect("a new store prints a command");
    assert!(printed.contains(&format!("curl {}/plants ", server.url)), "{printed}");
    let token = server.token.clone();
    let generated = client_with(client(&server, &authority), &server.url, move || token.clone());
    let generated = generated.expect("a client");
    let request = generated.create_plant().body(new_plant(1, "Ficus", None));
    assert_eq!(RUNTIME.block_on(async { request.send().await }).expect("a plant").name, "Ficus");

    let client = client(&server, &authority).build().expect("a client");
    assert_eq!(create(&server, &client).version(), Version::HTTP_11);
    let mut plain = server.connect();
    plain.send(&server.post(&plant(2, "Fern", None)));
    assert!(!plain.wait_until_closed().starts_with(b"HTTP"), "no HTTP answer");
    create(&server, &client);
    current_certificate(&server, &authority);
    assert!(!server.log().contains(r#""level":"warning""#), "{}", server.log());
    assert!(server.export().into_keys().eq([1]));
}

/// New connections get the new certificate, and open connections stay open.
#[test]
fn sighup_reloads_the_certificate_for_new_connections() {
    let (server, authority) = serving(&[]);
    let open = client(&server, &authority).build().expect("a client");
    let old = certificate(&create(&server, &open));
    let new = authority.issue(server.folder());
    server.signal(Signal::SIGHUP);
    server.wait_for_log("SIGHUP: reloaded the TLS files for new connections");
    assert_eq!(current_certificate(&server, &authority), new.as_ref());
    assert_eq!(certificate(&create(&server, &open)), old, "on the open connection");
    assert_ne!(old, new.as_ref());
}

/// The first lines of encrypted keys.
const PKCS_8: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n";
const PKCS_1: &str = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n";

/// Ways to break the TLS files: what is written to a file, and what the message names.
const BROKEN: [(&str, Broken, &str); 9] = [
    (CERT, Broken::Removed, "cannot read plants.pem: No such file"),
    (KEY, Broken::Removed, "cannot read plants.key: No such file"),
    (CERT, Broken::Text("plants"), "plants.pem contains no PEM certificate"),
    (KEY, Broken::Text("plants"), "plants.key contains no unencrypted PEM private key"),
    (KEY, Broken::Text(PKCS_8), "plants.key contains no unencrypted PEM private key"),
    (KEY, Broken::Text(PKCS_1), "plants.key contains no unencrypted PEM private key"),
    (CERT, Broken::Swapped, "plants.pem contains no PEM certificate"),
    (KEY, Broken::OfAnother, "plants.pem and plants.key cannot be used together"),
    // A reload that reads it would block, and every later one.
    (KEY, Broken::Pipe, "is not a regular file"),
];

#[derive(Clone, Copy, Debug)]
enum Broken {
    Removed,
    Text(&'static str),
    /// The other file.
    Swapped,
    /// The file of another certificate.
    OfAnother,
    Pipe,
}

/// Writes TLS files of this authority, of which one is broken.
fn break_files(authority: &Authority, folder: &Path, file: &str, broken: Broken) {
    let another = TempDir::new().expect("a temporary folder");
    for name in [CERT, KEY] {
        // A pipe cannot be written.
        let _ = fs::remove_file(folder.join(name));
    }
    authority.issue(folder);
    Authority::new().issue(another.path());
    let path = folder.join(file);
    match broken {
        Broken::Removed => fs::remove_file(path),
        Broken::Text(text) => fs::write(path, text),
        Broken::Swapped => fs::copy(folder.join(KEY), path).map(drop),
        Broken::OfAnother => fs::copy(another.path().join(file), path).map(drop),
        Broken::Pipe => fs::remove_file(&path).and_then(|()| Ok(mkfifo(&path, Mode::S_IRWXU)?)),
    }
    .expect("the folder is writable");
}

/// A server with broken files ends, and leaves no store.
fn assert_start_fails(authority: &Authority, file: &str, broken: Broken, expected: &str) {
    let folder = TempDir::new().expect("a temporary folder");
    break_files(authority, folder.path(), file, broken);
    run(binary_in(folder.path()).arg("serve").args(TLS)).failed(1, expected);
    let left = fs::read_dir(&folder).expect("the folder is there");
    let mut left = left.map(|entry| entry.expect("an entry").file_name());
    assert!(left.all(|name| name == CERT || name == KEY), "a file is left");
}

/// With broken files no server starts or leaves a store, and a running server uses the old files.
#[test]
fn broken_files_prevent_a_start_and_are_not_reloaded() {
    const FAILED: &str = "cannot reload the TLS files, so the old ones stay in use";
    let (mut server, authority) = serving(&[]);
    let last = current_certificate(&server, &authority);
    each_row(BROKEN, |(file, broken, expected)| {
        // A pipe may be somebody's `<(command)` at the start.
        if !matches!(broken, Broken::Pipe) {
            assert_start_fails(&authority, file, broken, expected);
        }
        break_files(&authority, server.folder(), file, broken);
        let failures = server.log().matches(FAILED).count();
        server.signal(Signal::SIGHUP);
        server.wait_until(expected, || server.log().matches(FAILED).count() > failures);
        let log = server.log();
        let record = log.lines().rfind(|line| line.contains(FAILED)).expect("a record");
        assert!(record.contains(expected) && record.contains(r#""level":"error""#), "{record}");
        assert_eq!(current_certificate(&server, &authority), last);
    });
    fs::remove_file(server.folder().join(KEY)).expect("the pipe is there");
    let new = authority.issue(server.folder());
    server.signal(Signal::SIGHUP);
    server.wait_for_log("SIGHUP: reloaded the TLS files for new connections");
    assert_eq!(current_certificate(&server, &authority), new.as_ref());
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
}

#[test]
fn world_readable_key_is_a_warning() {
    const WARNING: &str = "everybody on this machine may read the private key: chmod o-r";
    let (server, _authority) = serving(&[]);
    assert!(!server.log().contains(WARNING), "{}", server.log());
    let key = server.folder().join(KEY);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).expect("the file is ours");
    server.signal(Signal::SIGHUP);
    let record = server.record(|record| record["level"] == "warning");
    assert!(record.to_string().contains(WARNING) && record.to_string().contains(KEY), "{record}");
}

/// Connections that start a handshake and never finish it.
#[test]
fn stalled_handshakes_delay_no_client_and_no_shutdown() {
    let (mut server, authority) = serving(&["--shutdown-timeout", "1h"]);
    let hello = authority.client_hello();
    let starts = [&b""[..], &hello[..1], &hello[..hello.len() / 2], &hello];
    let stalled = starts.iter().cycle().take(40).map(|start| {
        let mut connection = server.connect();
        connection.send(start);
        connection
    });
    let stalled: Vec<_> = stalled.collect();
    for _ in 0..20 {
        current_certificate(&server, &authority);
    }
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    drop(stalled);
}
