//! `MONITORING.md` names each series that the service serves, and no other.

use std::collections::BTreeSet;

use plant_store_tests::Server;

use crate::metrics::{metrics_address, scrape};
use crate::tls::serving;
use crate::without_store::readmes::{table, text};

/// The series that a server serves. A histogram is one series here.
fn served(server: &Server) -> BTreeSet<String> {
    let scrape = scrape(metrics_address(server));
    let types = scrape.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

const LIMITED: &str = "with `--max-rate`";

/// Fails unless the series that this server serves are those that `MONITORING.md` names for all
/// stores, for its engine, for `--max-rate` and, if it speaks it, for TLS.
pub fn assert_monitoring_names_the_series_of(server: &Server) {
    let engine = if server.store().starts_with("postgres") { "on PostgreSQL" } else { "on SQLite" };
    let tls = if server.url.starts_with("https") { "over TLS" } else { "always" };
    let rows = table(&text("server/MONITORING.md"), "series");
    let (here, elsewhere): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|(_, on)| ["always", engine, tls, LIMITED].contains(&&on[..]));
    for (_, on) in elsewhere {
        let known = ["on PostgreSQL", "on SQLite", "over TLS", LIMITED];
        assert!(known.contains(&&on[..]), "it is not one of {known:?}: {on}");
    }
    let named = here.iter().map(|(name, _)| name.trim_matches('`').to_owned()).collect();
    // Some are registered just after the listener opens.
    server.wait_until(&format!("each of these series is served: {named:?}"), || {
        BTreeSet::is_subset(&named, &served(server))
    });
    assert_eq!(served(server), named, "the series that are served (left)");
}

#[test]
fn monitoring_names_each_series_that_is_served_and_no_other() {
    let (server, _) = serving(&["--metrics", "127.0.0.1:0", "--max-rate", "1"]);
    assert_monitoring_names_the_series_of(&server);
}
