//! TLS: the protocols, the files and their renewal, and clients that break its rules.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use plant_store_client::{Client, SendPolicy};
use plant_store_tests::tls::{Authority, CERT, KEY, TLS};
use plant_store_tests::{Connection, EVENT_TIMEOUT, Server, binary_in, failure, new_plant, plant};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::tls::{Certificate, TlsInfo};
use reqwest::{ClientBuilder, Response, Version};
use tempfile::TempDir;

/// A server that speaks TLS, with these flags too, and the authority that issued its certificate.
pub fn serving(flags: &[&str]) -> (Server, Authority) {
    let authority = Authority::new();
    let starting = Server::starting();
    authority.issue(starting.folder());
    (starting.with(&TLS).with(flags).start(), authority)
}

/// An HTTP client that trusts the authority alone, and has the server's accepted token.
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

/// The certificate that the server has shown on the connection of that answer.
fn shown(answer: &Response) -> &[u8] {
    let info = answer.extensions().get::<TlsInfo>().expect("it came over TLS");
    info.peer_certificate().expect("a server shows its certificate")
}

/// The certificate that a new connection is shown.
async fn shown_now(server: &Server, authority: &Authority) -> Vec<u8> {
    let client = client(server, authority).build().expect("a client");
    shown(&create(server, &client).await).to_owned()
}

#[tokio::test]
async fn printed_address_is_https_and_the_generated_client_creates_there() {
    let (server, authority) = serving(&[]);
    assert_eq!(server.url, format!("https://{}", server.address));
    let printed = server.first_request.as_deref().expect("a new store prints a command");
    assert!(printed.starts_with(&format!("curl {}/plants ", server.url)), "{printed}");
    let http = client(&server, &authority).build().expect("a client");
    let ficus = new_plant(1, "Ficus", None);
    let client = Client::new_with_client(&server.url, http, SendPolicy::default());
    let created = client.create_plant().body(ficus).send().await.expect("a plant");
    assert_eq!(created.name, "Ficus");
    assert_eq!(server.export()[&1].name, "Ficus");
}

#[tokio::test]
async fn alpn_offers_http_1_1_alone() {
    let (server, authority) = serving(&[]);
    // It offers HTTP/2, too.
    let client = client(&server, &authority).build().expect("a client");
    assert_eq!(create(&server, &client).await.version(), Version::HTTP_11);
}

#[tokio::test]
async fn sighup_shows_the_new_certificate_to_new_connections_and_open_ones_go_on() {
    let (server, authority) = serving(&[]);
    let open = client(&server, &authority).build().expect("a client");
    let old = shown(&create(&server, &open).await).to_owned();

    let new = authority.issue(server.folder());
    server.signal(Signal::SIGHUP);
    server.wait_for_log("SIGHUP: new connections use the files of TLS as they are now");
    assert_eq!(shown_now(&server, &authority).await, new.as_ref());
    assert_eq!(shown(&create(&server, &open).await), old, "on the connection that was open");
    assert_ne!(old, new.as_ref());
}

type Spoil = fn(&Path);

/// How files of TLS can be wrong, and what the server says of them.
const WRONG: [(Spoil, &str); 8] = [
    (|folder| remove(&folder.join(CERT)), "cannot read plants.pem: No such file"),
    (|folder| remove(&folder.join(KEY)), "cannot read plants.key: No such file"),
    (|folder| write(&folder.join(CERT), "plants"), "plants.pem holds no certificate in PEM"),
    (|folder| write(&folder.join(KEY), "plants"), "plants.key holds no private key in PEM"),
    (
        |folder| write(&folder.join(KEY), PKCS_8),
        "plants.key holds no private key in PEM that needs no passphrase",
    ),
    (
        |folder| write(&folder.join(KEY), PKCS_1),
        "plants.key holds no private key in PEM that needs no passphrase",
    ),
    (|folder| swap(&folder.join(CERT), &folder.join(KEY)), "plants.pem holds no certificate"),
    (with_the_key_of_another, "plants.pem and plants.key cannot be used together: "),
];

/// How an encrypted key begins.
const PKCS_8: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n";
const PKCS_1: &str = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n";

fn remove(file: &Path) {
    fs::remove_file(file).expect("the file is there");
}

fn write(file: &Path, text: &str) {
    fs::write(file, text).expect("the folder takes files");
}

fn swap(one: &Path, other: &Path) {
    let [text, others] = [one, other].map(|file| fs::read_to_string(file).expect("text"));
    write(one, &others);
    write(other, &text);
}

fn with_the_key_of_another(folder: &Path) {
    let certificate = fs::read_to_string(folder.join(CERT)).expect("text");
    Authority::new().issue(folder);
    write(&folder.join(CERT), &certificate);
}

#[tokio::test]
async fn wrong_files_at_sighup_keep_the_last_ones_and_the_log_says_why() {
    let (server, authority) = serving(&[]);
    let mut last = shown_now(&server, &authority).await;
    for (spoil, said) in WRONG {
        authority.issue(server.folder());
        spoil(server.folder());
        let refusals = server.log().matches("the old TLS files stay in use").count();
        server.signal(Signal::SIGHUP);
        server.wait_until(said, || {
            server.log().matches("the old TLS files stay in use").count() > refusals
        });
        let log = server.log();
        let record =
            log.lines().rfind(|line| line.contains("the old TLS files")).expect("a record");
        assert!(record.contains(said) && record.contains(r#""level":"error""#), "{record}");
        assert_eq!(shown_now(&server, &authority).await, last, "{said}");
    }
    last = authority.issue(server.folder()).to_vec();
    server.signal(Signal::SIGHUP);
    server.wait_for_log("SIGHUP: new connections use the files of TLS as they are now");
    assert_eq!(shown_now(&server, &authority).await, last);
}

#[test]
fn wrong_files_at_the_start_are_status_1_and_leave_no_store() {
    for (spoil, expected) in WRONG {
        let folder = TempDir::new().expect("a temporary folder");
        Authority::new().issue(folder.path());
        spoil(folder.path());
        let (status, said) = failure(binary_in(folder.path()).arg("serve").args(TLS));
        assert_eq!(status, Some(1), "{said}");
        assert!(said.starts_with(&format!("plant-store: {expected}")), "{said}");
        let left = fs::read_dir(&folder).expect("the folder is there");
        let left = left.map(|entry| entry.expect("an entry").file_name());
        assert!(left.into_iter().all(|name| name == CERT || name == KEY), "{expected}");
    }
}

#[test]
fn key_that_everybody_may_read_is_a_warning() {
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
async fn plain_http_on_the_port_of_tls_is_closed_and_the_server_goes_on() {
    let (server, authority) = serving(&[]);
    let client = client(&server, &authority).build().expect("a client");
    create(&server, &client).await;
    let mut plain = server.connect();
    plain.send(&server.post(&plant(2, "Fern", None)));
    assert!(!plain.wait_until_closed().starts_with(b"HTTP"), "no answer of HTTP");
    create(&server, &client).await;
    shown_now(&server, &authority).await;
    // Everybody may cause it: it would fill the disk that holds the log.
    assert!(!server.log().contains(r#""level":"warning""#), "{}", server.log());
    assert_eq!(server.export().len(), 1);
}

/// Connections that begin a handshake and do not go on.
fn stopped_handshakes(server: &Server, authority: &Authority) -> Vec<Connection> {
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
async fn handshakes_that_stop_half_way_delay_no_client_and_no_stop() {
    let (mut server, authority) = serving(&["--shutdown-timeout", "1h"]);
    let stopped = stopped_handshakes(&server, &authority);
    for _ in 0..20 {
        shown_now(&server, &authority).await;
    }
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    drop(stopped);
}

#[tokio::test]
async fn sighup_that_waits_for_a_file_delays_no_create_and_no_stop() {
    let (mut server, authority) = serving(&[]);
    let key = server.folder().join(KEY);
    fs::remove_file(&key).expect("the file is there");
    mkfifo(&key, Mode::S_IRWXU).expect("a pipe");
    server.signal(Signal::SIGHUP);
    let mut silent = None;
    server.wait_until("the key is read", || {
        // Opening a pipe to write fails until a process reads it (fifo(7)).
        let flags = OFlag::O_NONBLOCK.bits();
        silent = File::options().write(true).custom_flags(flags).open(&key).ok();
        silent.is_some()
    });
    shown_now(&server, &authority).await;
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
}
