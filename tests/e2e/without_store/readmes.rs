//! Tests of the pages and files for operators: the table of flags, the names of metrics, and the
//! settings of the unit.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;

use groundwork::command_line;
use plant_store_server::PLANT_STORE;
use plant_store_tests::{Server, root};

use crate::metrics::{metrics_address, scrape, series};

/// Returns the content of a file in the repository.
pub fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).expect("a file of the repository")
}

/// Returns the first two cells of each row in the table whose first header is `header`.
pub fn table(text: &str, header: &str) -> Vec<(String, String)> {
    let header = format!("| {header}").trim_end().to_owned() + " |";
    let rows = text.lines().skip_while(|line| !line.starts_with(&header)).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).map(|line| {
        let mut cells = line.split('|').skip(1).map(|cell| cell.trim().to_owned());
        (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
    });
    cells.collect()
}

/// With `EXPECTORATE=overwrite`, the test writes the table. Each flag must also have its variable.
#[test]
fn table_of_flags_in_the_server_readme_is_current() {
    let cli = command_line(&PLANT_STORE);
    let serve = cli.find_subcommand("serve").expect("the command");
    let mut table = "| flag | default | |\n| --- | --- | --- |\n".to_owned();
    for flag in serve.get_arguments() {
        let name = flag.get_long().expect("a long name");
        let variable = format!("PLANT_STORE_{}", name.replace('-', "_").to_uppercase());
        assert_eq!(flag.get_env(), Some(OsStr::new(&variable)), "{name}");
        let default =
            flag.get_default_values().first().filter(|_| flag.get_action().takes_values());
        let default = default.map_or(String::new(), |value| format!(" `{}`", value.display()));
        let help = flag.get_help().expect("a help text");
        writeln!(table, "| `--{name}` |{default} | {help} |").expect("a string takes it");
    }
    let path = "server/README.md";
    let [start, end] =
        ["<!-- flags: generated from the command line -->\n", "<!-- end of flags -->"];
    let text = text(path);
    let (before, rest) = text.split_once(start).expect("the marker before the table");
    let (_, after) = rest.split_once(end).expect("the marker after the table");
    let expected = [before, start, &table, end, after].concat();
    expectorate::assert_contents(root().join(path), &expected);
}

#[test]
fn alerts_name_series_that_are_served() {
    let server = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    let metrics = metrics_address(&server);
    let is_in_a_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let alerts = text("server/alerts.yaml");
    let names: BTreeSet<_> = alerts
        .split(|letter| !is_in_a_name(letter))
        .filter(|word| word.starts_with("plant_store_"))
        // This name is only served on PostgreSQL.
        .filter(|name| *name != "plant_store_database_retries_total")
        .collect();
    assert!(names.len() > 3, "{names:?}");
    for name in names {
        // Some series appear within a second.
        server.wait_until(&format!("{name} is served"), || {
            let scrape = scrape(metrics);
            series(&scrape).keys().any(|key| key.split('{').next() == Some(name))
        });
    }
}

/// A long WAL or a slow database must not abort the start, and a flood must not suppress records.
#[test]
fn unit_limits_neither_the_start_time_nor_the_log_rate() {
    let unit = text("server/deploy/plant-store.service");
    for setting in ["TimeoutStartSec=infinity", "LogRateLimitIntervalSec=0"] {
        assert!(unit.lines().any(|line| line == setting), "{setting}");
    }
}
