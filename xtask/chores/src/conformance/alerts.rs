//! Prometheus' own tool on what operators give to Prometheus and Grafana: the configuration, the
//! alerts, and the queries of the dashboard. Each alert must fire on series that show its fault.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xshell::cmd;

use crate::tools::{folder, shell};
use xtask::machine::need;
use xtask::run::{has, quietly, root};

pub fn run() -> Result<()> {
    let promtool = || has("promtool").then_some(());
    if need("prometheus", promtool, "`apt-get install prometheus`")?.is_none() {
        return Ok(());
    }
    let server = root().join("server");
    let rules = fs::read_to_string(server.join("alerts.yaml")).context("there are no alerts")?;
    let tests = fs::read_to_string(folder().join("alerts.yaml")).context("there are no tests")?;
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        ensure!(tests.contains(&format!("alertname=\"{alert}\"")), "{alert} has no test");
    }
    fs::write(folder().join("alert-rules.yaml"), rules)?;
    fs::write(folder().join("dashboard-rules.yaml"), queries_as_rules()?)?;
    let sh = shell()?;
    for command in [
        cmd!(sh, "promtool check config {server}/prometheus.yaml"),
        cmd!(sh, "promtool test rules alerts.yaml"),
        cmd!(sh, "promtool check rules dashboard-rules.yaml"),
    ] {
        println!("{command}");
        quietly(command)?;
    }
    Ok(())
}

/// The queries of the dashboard, as the rules that promtool can read. JSON is YAML.
fn queries_as_rules() -> Result<String> {
    let text = fs::read_to_string(root().join("server/dashboard.json"))?;
    let dashboard: Value = serde_json::from_str(&text).context("the dashboard is not JSON")?;
    let panels = dashboard["panels"].as_array().context("the dashboard has no panels")?;
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let rule = |(number, target): (usize, &Value)| {
        let query = target["expr"].as_str().unwrap_or_default().replace("$__rate_interval", "5m");
        json!({ "record": format!("panel:{number}"), "expr": query })
    };
    let rules: Vec<_> = targets.enumerate().map(rule).collect();
    Ok(json!({ "groups": [{ "name": "dashboard", "rules": rules }] }).to_string())
}
