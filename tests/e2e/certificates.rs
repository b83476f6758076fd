//! Certificates of TLS that are not valid, or not for long.

use chrono::DateTime;
use nix::sys::signal::Signal;
use plant_store_tests::Server;
use plant_store_tests::tls::{Authority, CERT, TLS};
use serde_json::Value;

use crate::metrics::{metrics_address, scrape, series};
use crate::tls::shown_now;

const METRICS: [&str; 2] = ["--metrics", "127.0.0.1:0"];
const USED: &str = "SIGHUP: new connections use the files of TLS as they are now";
const KEPT: &str = "SIGHUP: the old TLS files stay in use";

/// When the certificate expires, in Unix time, as the metrics have it.
fn end(server: &Server) -> String {
    let scrape = scrape(metrics_address(server));
    series(&scrape)["plant_store_tls_not_after_timestamp_seconds"].to_owned()
}

/// The last record of the log with that message.
fn record(server: &Server, message: &str) -> Option<Value> {
    let log = server.log();
    let mut records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.rfind(|record| record["msg"] == message)
}

#[test]
fn certificate_that_is_not_valid_or_not_for_long_is_a_warning_and_its_end_a_metric() {
    for (days, said) in [
        ([-9, -1], Some("the certificate has expired")),
        ([1, 90], Some("the certificate is not valid yet")),
        ([-9, 13], Some("the certificate expires within 14 days")),
        ([-9, 15], None),
    ] {
        let starting = Server::starting();
        let (_, until) = Authority::new().issue_valid(days, starting.folder());
        let server = starting.with(&TLS).with(&METRICS).start();
        server.wait_for_log("listening");
        assert_eq!(end(&server), until.to_string());
        let Some(said) = said else {
            assert!(!server.log().contains("the certificate"), "{}", server.log());
            continue;
        };
        let record = record(&server, said).expect("a record");
        let until = DateTime::from_timestamp(until.try_into().expect("a time"), 0).expect("a time");
        assert_eq!((&record["level"], &record["file"]), (&"warning".into(), &CERT.into()));
        assert_eq!(record["valid_until"], until.to_string());
    }
}

#[tokio::test]
async fn sighup_replaces_no_valid_certificate_by_one_that_is_not() {
    let authority = Authority::new();
    let starting = Server::starting();
    let (valid, until) = authority.issue_valid([-9, 90], starting.folder());
    let server = starting.with(&TLS).with(&METRICS).start();
    for days in [[-9, -1], [1, 90]] {
        let _ = authority.issue_valid(days, server.folder());
        let kept = server.log().matches(KEPT).count();
        server.signal(Signal::SIGHUP);
        server.wait_until(KEPT, || server.log().matches(KEPT).count() > kept);
        let record = record(&server, KEPT).expect("a record");
        assert_eq!(record["cause"], "the certificate in use is valid, and this one is not");
        assert_eq!(shown_now(&server, &authority).await, valid.as_ref());
        assert_eq!(end(&server), until.to_string());
    }
}

/// The other one is not valid either: it may be the better one.
#[test]
fn sighup_replaces_a_certificate_that_is_not_valid_by_another_one() {
    let authority = Authority::new();
    let starting = Server::starting();
    let _ = authority.issue_valid([-9, -1], starting.folder());
    let server = starting.with(&TLS).with(&METRICS).start();
    let (_, until) = authority.issue_valid([-5, -2], server.folder());
    server.signal(Signal::SIGHUP);
    server.wait_for_log(USED);
    assert_eq!(end(&server), until.to_string());
}
