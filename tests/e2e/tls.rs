//! TLS: the protocols, the files and their reload, and misbehaving clients.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use plant_store_client::client_with;
use plant_store_tests::tls::{Authority, CERT, KEY, TLS};
use plant_store_tests::{Connection, EVENT_TIMEOUT, Server, binary_in, failure, new_plant, plant};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::tls::{Certificate, TlsInfo};
use reqwest::{ClientBuilder, Response, Version};
use tempfile::TempDir;

/// Starts a server with TLS and these flags. Also returns the authority that issued its
/// certificate.
pub fn serving(flags: &[&str]) -> (Server, Authority) {
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
async fn create(server: &Server, client: &reqwest::Client) -> Response {
    let request = client.post(format!("{}/plants", server.url)).body(plant(1, "Ficus", None));
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    answer
}

/// Returns the server's certificate on the connection of this answer.
fn certificate(answer: &Response) -> &[u8] {
    let info = answer.extensions().get::<TlsInfo>().expect("the answer was sent over TLS");
    info.peer_certificate().expect("a server sends its certificate")
}

/// Returns the server's certificate on a new connection.
async fn current_certificate(server: &Server, authority: &Authority) -> Vec<u8> {
    let client = client(server, authority).build().expect("a client");
    certificate(&create(server, &client).await).to_owned()
}

#[tokio::test]
async fn generated_client_creates_plants_over_https() {
    let (server, authority) = serving(&[]);
    assert_eq!(server.url, format!("https://{}", server.address));
    let printed = server.first_request.as_deref().expect("a new store prints a command");
    assert!(printed.contains(&format!("curl {}/plants ", server.url)), "{printed}");
    let ficus = new_plant(1, "Ficus", None);
    let token = server.token.clone();
    let client = client_with(client(&server, &authority), &server.url, move || token.clone());
    let created =
        client.expect("a client").create_plant().body(ficus).send().await.expect("a plant");
    assert_eq!(created.name, "Ficus");
    assert_eq!(server.export()[&1].name, "Ficus");
}

#[tokio::test]
async fn alpn_only_offers_http_1_1() {
    let (server, authority) = serving(&[]);
    // This client offers HTTP/2, too.
    let client = client(&server, &authority).build().expect("a client");
    assert_eq!(create(&server, &client).await.version(), Version::HTTP_11);
}

/// New connections get the new certificate, and open connections stay open.
#[tokio::test]
async fn sighup_reloads_the_certificate_for_new_connections() {
    let (server, authority) = serving(&[]);
    let open = client(&server, &authority).build().expect("a client");
    let old = certificate(&create(&server, &open).await).to_owned();

    let new = authority.issue(server.folder());
    server.signal(Signal::SIGHUP);
    server.wait_for_log("SIGHUP: reloaded the TLS files for new connections");
    assert_eq!(current_certificate(&server, &authority).await, new.as_ref());
    assert_eq!(certificate(&create(&server, &open).await), old, "on the open connection");
    assert_ne!(old, new.as_ref());
}

type Break = fn(&Path);

/// Ways to break the TLS files, and the message of the server.
const BROKEN: [(Break, &str); 8] = [
    (|folder| remove(&folder.join(CERT)), "cannot read plants.pem: No such file"),
    (|folder| remove(&folder.join(KEY)), "cannot read plants.key: No such file"),
    (|folder| write(&folder.join(CERT), "plants"), "plants.pem contains no PEM certificate"),
    (|folder| write(&folder.join(KEY), "plants"), "plants.key contains no unencrypted PEM private"),
    (|folder| write(&folder.join(KEY), PKCS_8), "plants.key contains no unencrypted PEM private"),
    (|folder| write(&folder.join(KEY), PKCS_1), "plants.key contains no unencrypted PEM private"),
    (|folder| swap(&folder.join(CERT), &folder.join(KEY)), "plants.pem contains no PEM cert"),
    (mismatch_key, "plants.pem and plants.key cannot be used together: "),
];

/// The first lines of encrypted keys.
const PKCS_8: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n";
const PKCS_1: &str = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n";

fn remove(file: &Path) {
    fs::remove_file(file).expect("the file is there");
}

fn write(file: &Path, text: &str) {
    fs::write(file, text).expect("the folder is writable");
}

fn swap(one: &Path, other: &Path) {
    let [text, others] = [one, other].map(|file| fs::read_to_string(file).expect("text"));
    write(one, &others);
    write(other, &text);
}

/// Replaces the key with the key of another certificate.
fn mismatch_key(folder: &Path) {
    let certificate = fs::read_to_string(folder.join(CERT)).expect("text");
    Authority::new().issue(folder);
    write(&folder.join(CERT), &certificate);
}

#[tokio::test]
async fn broken_files_at_sighup_keep_the_old_files_in_use() {
    const FAILED: &str = "cannot reload the TLS files, so the old ones stay in use";
    let (server, authority) = serving(&[]);
    let mut last = current_certificate(&server, &authority).await;
    for (break_files, expected) in BROKEN {
        authority.issue(server.folder());
        break_files(server.folder());
        let failures = server.log().matches(FAILED).count();
        server.signal(Signal::SIGHUP);
        server.wait_until(expected, || server.log().matches(FAILED).count() > failures);
        let log = server.log();
        let record = log.lines().rfind(|line| line.contains(FAILED)).expect("a record");
        assert!(record.contains(expected) && record.contains(r#""level":"error""#), "{record}");
        assert_eq!(current_certificate(&server, &authority).await, last, "{expected}");
    }
    last = authority.issue(server.folder()).to_vec();
    server.signal(Signal::SIGHUP);
    server.wait_for_log("SIGHUP: reloaded the TLS files for new connections");
    assert_eq!(current_certificate(&server, &authority).await, last);
}

#[test]
fn broken_files_at_the_start_leave_no_store() {
    for (break_files, expected) in BROKEN {
        let folder = TempDir::new().expect("a temporary folder");
        Authority::new().issue(folder.path());
        break_files(folder.path());
        let (status, stderr) = failure(binary_in(folder.path()).arg("serve").args(TLS));
        assert_eq!(status, Some(1), "{stderr}");
        assert!(stderr.starts_with(&format!("plant-store: {expected}")), "{stderr}");
        let left = fs::read_dir(&folder).expect("the folder is there");
        let left = left.map(|entry| entry.expect("an entry").file_name());
        assert!(left.into_iter().all(|name| name == CERT || name == KEY), "{expected}");
    }
}

#[test]
fn world_readable_key_is_a_warning() {
    const WARNING: &str = "everybody on this machine may read the private key: chmod o-r";
    let (server, _authority) = serving(&[]);
    assert!(!server.log().contains(WARNING), "{}", server.log());
    let key = server.folder().join(KEY);
    fs::set_permissions(&key, Permissions::from_mode(0o644)).expect("the file is ours");
    server.signal(Signal::SIGHUP);
    server.wait_for_log(WARNING);
    let log = server.log();
    let record = log.lines().find(|line| line.contains(WARNING)).expect("a record");
    assert!(record.contains(r#""level":"warning""#) && record.contains(KEY), "{record}");
}

#[tokio::test]
async fn plain_http_to_the_tls_port_is_closed() {
    let (server, authority) = serving(&[]);
    let client = client(&server, &authority).build().expect("a client");
    create(&server, &client).await;
    let mut plain = server.connect();
    plain.send(&server.post(&plant(2, "Fern", None)));
    assert!(!plain.wait_until_closed().starts_with(b"HTTP"), "no HTTP answer");
    create(&server, &client).await;
    current_certificate(&server, &authority).await;
    // Everybody can cause this, so a warning could fill the disk that holds the log.
    assert!(!server.log().contains(r#""level":"warning""#), "{}", server.log());
    assert_eq!(server.export().len(), 1);
}

/// Opens connections that start a handshake and never finish it.
fn stalled_handshakes(server: &Server, authority: &Authority) -> Vec<Connection> {
    let hello = authority.client_hello();
    let starts = [&b""[..], &hello[..1], &hello[..hello.len() / 2], &hello];
    let connections = starts.iter().cycle().take(40).map(|start| {
        let mut connection = server.connect();
        connection.send(start);
        connection
    });
    connections.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn stalled_handshakes_delay_no_client_and_no_shutdown() {
    let (mut server, authority) = serving(&["--shutdown-timeout", "1h"]);
    let stalled = stalled_handshakes(&server, &authority);
    for _ in 0..20 {
        current_certificate(&server, &authority).await;
    }
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    drop(stalled);
}

/// Reading a pipe that nobody writes to would block this reload and every later one.
#[tokio::test]
async fn pipe_in_place_of_the_key_is_not_reloaded() {
    let (mut server, authority) = serving(&[]);
    let key = server.folder().join(KEY);
    let text = fs::read(&key).expect("the file is there");
    fs::remove_file(&key).expect("the file is there");
    mkfifo(&key, Mode::S_IRWXU).expect("a pipe");
    server.signal(Signal::SIGHUP);
    server.wait_for_log("is not a regular file");
    current_certificate(&server, &authority).await;
    fs::remove_file(&key).expect("the pipe is there");
    fs::write(&key, text).expect("the folder is ours");
    server.signal(Signal::SIGHUP);
    server.wait_for_log("reloaded the TLS files");
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
}
