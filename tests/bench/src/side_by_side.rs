//! The service beside the other targets, with few and with many connections.

use std::path::Path;

use anyhow::Result;
use comfy_table::Table;

use crate::figure::{Bars, write_bars};
use crate::markdown;
use crate::sample::{Case, Effort, Sample, measure};
use crate::target::Target;

const CONNECTIONS: [usize; 4] = [64, 256, 1024, 1];

/// Returns the table, and writes what it says of the first number of connections as a figure.
pub fn table(targets: &[Target], effort: Effort, figures: &Path) -> Result<Table> {
    let mut cases = Vec::new();
    for connections in CONNECTIONS {
        let case = |target| Case { target, connections, store: None, arrivals: None };
        cases.extend(targets.iter().map(case));
    }
    let samples = measure(&cases, effort)?;
    let bars = |title, figure: fn(&Sample) -> f64| {
        let names = targets.iter().map(|target| target.name);
        Bars { title, bars: names.zip(samples.iter().map(figure)).collect() }
    };
    write_bars(
        &figures.join("side-by-side.svg"),
        &[
            bars("CPU µs/create, 64 connections: less is better", |sample| {
                sample.cpu_us_per_create
            }),
            bars("creates/s, 64 connections: more is better", |sample| sample.creates_per_second),
        ],
    )?;
    let mut table = markdown([
        "connections",
        "target",
        "creates/s",
        "median ms",
        "99 % ms",
        "CPU µs/create",
        "of bare hyper's",
        "of bare Dropshot's",
        "peak MiB",
    ]);
    for (cases, samples) in cases.chunks(targets.len()).zip(samples.chunks(targets.len())) {
        let [hyper, dropshot] = [1, 2].map(|floor: usize| samples[floor].cpu_us_per_create);
        for (case, sample) in cases.iter().zip(samples) {
            table.add_row([
                case.connections.to_string(),
                case.target.name.to_owned(),
                format!("{:.0}", sample.creates_per_second),
                format!("{:.2}", sample.median_ms),
                format!("{:.2}", sample.percentile_99_ms),
                format!("{:.1}", sample.cpu_us_per_create),
                format!("{:.2}", sample.cpu_us_per_create / hyper),
                format!("{:.2}", sample.cpu_us_per_create / dropshot),
                format!("{:.1}", sample.peak_mib),
            ]);
        }
    }
    Ok(table)
}
