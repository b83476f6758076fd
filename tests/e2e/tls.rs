//! TLS: the protocols, the files and their reload.

use std::sync::LazyLock;

use plant_store_client::client_with;
use plant_store_tests::new_plant;
use plant_store_tests::prelude::*;
use plant_store_tests::tls::{Authority, CERT, KEY, TLS, serving};
use reqwest::header::CONTENT_TYPE;
use reqwest::tls::{Certificate, TlsInfo};
use reqwest::{ClientBuilder, Response, Version};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads"));

/// Returns an HTTP client that trusts only this authority.
fn client(authority: &Authority) -> ClientBuilder {
    let authority = Certificate::from_pem(authority.pem().as_bytes()).expect("a certificate");
    reqwest::Client::builder().tls_certs_only([authority]).tls_info(true).timeout(EVENT_TIMEOUT)
}

/// Creates the plant 1.
fn create(server: &Server, client: &reqwest::Client) -> Response {
    let request = client.post(format!("{}/plants", server.url)).bearer_auth(&server.token);
    let request = request.header(CONTENT_TYPE, "application/json").body(plant(1, "Ficus", None));
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
    let client = client(authority).build().expect("a client");
    certificate(&create(server, &client))
}

/// This client offers HTTP/2, too. A plain request to the same port gets no answer. Everybody can
/// cause that, so a warning could fill the disk that holds the log.
#[test]
fn tls_port_offers_only_http_1_1_over_tls() {
    let (server, authority) = serving();
    assert_eq!(server.url, format!("https://{}", server.address));
    let printed = server.first_request.as_deref().expect("a new store prints a command");
    assert!(printed.contains(&format!("curl {}/plants ", server.url)), "{printed}");
    let token = server.token.clone();
    let generated = client_with(client(&authority), &server.url, move || token.clone());
    let generated = generated.expect("a client");
    let request = generated.create_plant().body(new_plant(1, "Ficus", None));
    assert_eq!(RUNTIME.block_on(async { request.send().await }).expect("a plant").name, "Ficus");

    let client = client(&authority).build().expect("a client");
    assert_eq!(create(&server, &client).version(), Version::HTTP_11);
    let mut plain = server.connect();
    plain.send(&server.post(&plant(2, "Fern", None)));
    assert!(!plain.wait_until_closed().starts_with(b"HTTP"), "no HTTP answer");
    create(&server, &client);
    current_certificate(&server, &authority);
    assert!(!server.log().contains(r#""level":"warning""#), "{}", server.log());
    assert!(server.export().into_keys().eq([1]));
}

/// With broken files no server starts or leaves a store, and a running server uses the old files.
/// With good files, new connections get the new certificate, and open connections stay open.
#[test]
fn sighup_reloads_files_that_a_start_would_accept() {
    const FAILED: &str = "cannot reload the TLS files, so the old ones stay in use";
    let (server, authority) = serving();
    let last = current_certificate(&server, &authority);
    let folder = TempDir::new().expect("a temporary folder");
    let [reloaded, started] = [server.folder(), folder.path()];
    let fails_to_reload = |expected: &str| {
        let failures = server.log().matches(FAILED).count();
        server.signal(Signal::SIGHUP);
        server.wait_until(expected, || server.log().matches(FAILED).count() > failures);
        let log = server.log();
        let record = log.lines().rfind(|line| line.contains(FAILED)).expect("a record");
        assert!(record.contains(expected) && record.contains(r#""level":"error""#), "{record}");
        assert_eq!(current_certificate(&server, &authority), last);
    };
    let own_key = fs::read_to_string(reloaded.join(KEY)).expect("the key");
    authority.issue(started);
    let other_key = fs::read_to_string(started.join(KEY)).expect("the key");
    // The text of a file, which is missing if there is none.
    let table = [
        (CERT, None, "cannot read plants.pem: No such file"),
        (KEY, None, "cannot read plants.key: No such file"),
        (CERT, Some("plants"), "plants.pem contains no PEM certificate"),
        (KEY, Some("plants"), "plants.key contains no unencrypted PEM private key"),
        (CERT, Some(&*own_key), "plants.pem contains no PEM certificate"),
        (KEY, Some(&*other_key), "plants.pem and plants.key cannot be used together"),
    ];
    each_row(table, |(file, text, expected)| {
        for folder in [reloaded, started] {
            authority.issue(folder);
            let broken = folder.join(file);
            text.map_or_else(|| fs::remove_file(&broken), |text| fs::write(&broken, text))
                .expect("the folder is writable");
        }
        fails_to_reload(expected);
        run(binary_in(started, "serve").args(TLS)).failed(1, expected);
        let left = fs::read_dir(started).expect("the folder is there");
        let mut left = left.map(|entry| entry.expect("an entry").file_name());
        assert!(left.all(|name| name == CERT || name == KEY), "a file is left");
    });
    let open = client(&authority).build().expect("a client");
    create(&server, &open);
    let new = authority.issue(reloaded);
    server.signal(Signal::SIGHUP);
    server.wait_for_log("SIGHUP: reloaded the TLS files for new connections");
    assert_eq!(current_certificate(&server, &authority), new);
    assert_eq!(certificate(&create(&server, &open)), last, "on the open connection");
    assert_ne!(last, new);
}
