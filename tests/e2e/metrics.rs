//! The admin listener (`--metrics`): the metrics, `/live` and `/ready`.

use std::collections::{BTreeMap, BTreeSet};

use plant_store_tests::prelude::*;

use crate::database;
use crate::without_store::commit;
use crate::without_store::pages::{table, text};

/// Returns the text of a scrape.
fn scrape(server: &Server) -> String {
    let response = get(server.admin(), "/metrics");
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    String::from_utf8(response.body).expect("a scrape is text")
}

/// Parses the value of every series, as text.
fn series(scrape: &str) -> BTreeMap<&str, &str> {
    let samples = scrape.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    samples.map(|line| line.rsplit_once(' ').expect("a name and a value")).collect()
}

/// Returns the names in the comments of this kind: `HELP` or `TYPE`. A histogram is one name.
fn named(scrape: &str, kind: &str) -> BTreeSet<String> {
    let comment = format!("# {kind} ");
    let lines = scrape.lines().filter_map(|line| line.strip_prefix(&comment)?.split(' ').next());
    lines.map(str::to_owned).collect()
}

/// Returns the numbers of creates that were created, repeated and refused with a conflict.
fn creates(scrape: &str) -> [&str; 3] {
    ["created", "repeated", "conflict"].map(|outcome| {
        series(scrape)[format!("plant_store_creates_total{{outcome=\"{outcome}\"}}").as_str()]
    })
}

/// Returns the number of refusals for each value of `error`, without zeros.
fn refusals(scrape: &str) -> BTreeMap<i32, &str> {
    let count = |(name, count): (&str, _)| {
        let code = name.strip_prefix("plant_store_refusals_total{error=\"")?.strip_suffix("\"}")?;
        Some((code.parse().expect("a value of `error`"), count))
    };
    let counts = series(scrape).into_iter().filter(|(_, count)| *count != "0");
    counts.filter_map(count).collect()
}

/// Starts a server with an admin listener and these flags.
fn with_admin(flags: &[&str]) -> Server {
    Server::starting().with_admin().with(flags).start()
}

/// `OPERATING.md` lists the series for all stores and for each engine.
#[test]
fn operating_page_documents_exactly_the_served_series() {
    let server = with_admin(&[]);
    let engine = match Engine::of_this_run() {
        Engine::Sqlite => "on SQLite",
        Engine::Postgres => "on PostgreSQL",
    };
    let rows = table(&text("server/OPERATING.md"), "series").into_iter();
    let here = rows.filter(|(_, on)| {
        assert!(["always", "on PostgreSQL", "on SQLite"].contains(&on.as_str()), "{on}");
        on == "always" || on == engine
    });
    let documented: BTreeSet<_> = here.map(|(name, _)| name.trim_matches('`').to_owned()).collect();
    let current = || named(&scrape(&server), "TYPE");
    // Some series are registered shortly after the listener opens.
    server.wait_until("each documented series", || documented.is_subset(&current()));
    assert_eq!(current(), documented, "served series (left), documented series (right)");
}

/// Each kind of request is sent a different number of times, so that swapped counters are noticed.
#[test]
fn metrics_count_every_outcome_and_every_refusal() {
    let server = with_admin(&["--body-timeout", "200ms", "--max-body", "1KiB"]);
    let before = scrape(&server);
    for (name, value) in series(&before) {
        let is_a_count = name.ends_with("_total") || name.contains("_total{");
        assert!(value == "0" || !is_a_count, "{name} {value}");
    }
    assert_eq!(named(&before, "HELP"), named(&before, "TYPE"), "each series is described");
    let build = format!("version=\"{}\",commit=\"{}", env!("CARGO_PKG_VERSION"), commit());
    assert!(before.contains(&format!("plant_store_build_info{{{build}")), "{before}");

    let token = server.bearer();
    let monstera = |id| plant(id, "Monstera deliciosa", Some("indoor"));
    for id in [1, 2, 3, 4, 5, 1, 1, 1] {
        server.create(&monstera(id)).plant();
    }
    let wrong = "Authorization: Bearer pst_wrong\r\n";
    let coded = format!("{token}Content-Encoding: gzip\r\n");
    let late = server.post(&monstera(1));
    let refused = [
        (409, "2", server.post(&plant(1, "Ficus lyrata", None))),
        (400, "4", server.post("{}")),
        (401, "6", post(wrong, monstera(1).as_bytes())),
        (413, "7", server.post(&" ".repeat(2048))),
        (415, "8", post(&coded, monstera(1).as_bytes())),
        (408, "1", late[..late.len() - 1].to_vec()),
    ];
    for (error, times, request) in &refused {
        for _ in 0..times.parse().expect("a number") {
            assert_eq!(server.connect().exchange(request).error(), i64::from(*error));
        }
    }

    let after = scrape(&server);
    assert_eq!(creates(&after), ["5", "3", "2"]);
    assert_eq!(refusals(&after), refused.map(|(error, times, _)| (error, times)).into());
    let values = series(&after);
    let requests =
        |name: &str| values[format!("plant_store_request_duration_seconds_{name}").as_str()];
    assert_eq!([requests("count"), requests("bucket{le=\"+Inf\"}")], ["36"; 2]);
    // The request with the incomplete body took as long as the deadline.
    assert_ne!(requests("bucket{le=\"0.05\"}"), "36");
    let commits = ["duration_seconds_count", "batch_size_bucket{le=\"1\"}", "batch_size_sum"];
    for name in commits {
        assert_eq!(values[format!("plant_store_commit_{name}").as_str()], "10", "{name}");
    }
    assert_eq!(values["plant_store_queue_depth"], "0");
    for secret in [&server.token[4..], "Monstera", "Ficus", "indoor", "pst_"] {
        assert!(!after.contains(secret), "{secret:?} is in the scrape");
    }
}

/// An expired token counts until it is revoked.
#[test]
fn metrics_contain_the_time_until_the_next_token_expires() {
    let server = with_admin(&[]);
    let seconds = || -> f64 {
        let scrape = scrape(&server);
        series(&scrape)["plant_store_token_expires_seconds"].parse().expect("a number")
    };
    assert!(seconds().is_infinite(), "the token never expires");
    for (after, expected) in [(1000, 900.0..=1000.0), (-60, -120.0..=-60.0)] {
        let expiry = chrono::Utc::now().timestamp() + after;
        database::execute(&server, &format!("UPDATE tokens SET expires_at = {expiry}"));
        server.wait_until("the tokens are read", || expected.contains(&seconds()));
    }
}

#[test]
fn admin_listener_serves_live_and_ready() {
    let server = with_admin(&[]);
    for path in ["/live", "/live?verbose"] {
        assert_eq!(get(server.admin(), path).status, 200);
    }
    server.wait_until("the first commit succeeds", || server.ready() == (200, "ready\n".into()));
    for path in ["/live", "/ready", "/metrics"] {
        assert_eq!(get(server.address, path).status, 404, "{path} of the API");
    }
    assert_eq!(get(server.admin(), "/").status, 404);
    let post = b"POST /live HTTP/1.1\r\nHost: plants\r\nContent-Length: 0\r\n\r\n";
    let refused = Connection::open(server.admin()).exchange(post);
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET")));
}

/// A load balancer sends no creates to a service that is not ready, so the service must find out
/// without a create that it is ready again.
#[test]
fn ready_is_503_while_the_store_accepts_no_writes() {
    let server = with_admin(&["--store-timeout", "1s"]);
    // Wait for the commit that the service tries when it starts.
    server.wait_until("ready", || server.ready().0 == 200);
    let lock = database::locked(&server);
    assert_eq!(server.create(&plant(1, "Ficus", None)).error(), 503);
    assert_eq!(server.ready().0, 503);
    // The create may be refused before the hanging commit has failed.
    let cause = "the store does not take writes: ";
    server.wait_until("the cause", || server.ready().1.starts_with(cause));
    let unready = scrape(&server);
    assert_eq!(series(&unready)["plant_store_ready"], "0");
    assert_eq!((creates(&unready), refusals(&unready)), (["0"; 3], [(503, "1")].into()));
    drop(lock);
    server.wait_until("ready again", || server.ready().0 == 200);
    assert_eq!(server.metric("plant_store_ready"), 1);
    server.wait_for_log("the store takes writes again");
}

#[test]
fn ready_is_503_during_shutdown() {
    let mut server = with_admin(&[]);
    let body = plant(1, "Ficus", None);
    let mut last = server.in_flight(&body);
    server.signal(Signal::SIGTERM);
    server.wait_until("503", || server.ready() == (503, "the service is stopping\n".into()));
    assert_eq!(get(server.admin(), "/live").status, 200);
    last.exchange(body.as_bytes()).plant();
    assert!(server.wait().success());
}
