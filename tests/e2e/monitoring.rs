//! `OPERATING.md` documents exactly the series that the service serves.

use std::collections::BTreeSet;

use plant_store_tests::Server;

use crate::metrics::{metrics_address, scrape};
use crate::without_store::readmes::{table, text};

/// Returns the series that a server serves. A histogram counts as one series.
fn served(server: &Server) -> BTreeSet<String> {
    let scrape = scrape(metrics_address(server));
    let types = scrape.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// Asserts that this server serves exactly the series that `OPERATING.md` lists for all stores and
/// for its engine.
pub fn assert_monitoring_names_the_series_of(server: &Server) {
    let engine = if server.store().starts_with("postgres") { "on PostgreSQL" } else { "on SQLite" };
    let rows = table(&text("server/OPERATING.md"), "series");
    let (here, elsewhere): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|(_, on)| ["always", engine].contains(&&on[..]));
    for (_, on) in elsewhere {
        let known = ["on PostgreSQL", "on SQLite"];
        assert!(known.contains(&&on[..]), "{on} is not one of {known:?}");
    }
    let documented = here.iter().map(|(name, _)| name.trim_matches('`').to_owned()).collect();
    // Some series are registered shortly after the listener opens.
    server.wait_until(&format!("each of these series is served: {documented:?}"), || {
        BTreeSet::is_subset(&documented, &served(server))
    });
    assert_eq!(served(server), documented, "served series (left), documented series (right)");
}

#[test]
fn monitoring_page_documents_exactly_the_served_series() {
    let server = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    assert_monitoring_names_the_series_of(&server);
}
