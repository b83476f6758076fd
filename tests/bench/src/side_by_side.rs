//! The service beside the other targets, with few and with many connections.

use anyhow::Result;
use comfy_table::Table;

use crate::markdown;
use crate::sample::{Case, measure};
use crate::target::Target;

const CONNECTIONS: [usize; 3] = [64, 1, 1024];

pub fn table(targets: &[Target], rounds: usize) -> Result<Table> {
    let cases: Vec<Case> = CONNECTIONS
        .iter()
        .flat_map(|&connections| {
            targets.iter().map(move |target| Case { target, connections, store: None })
        })
        .collect();
    let samples = measure(&cases, rounds)?;
    let mut table = markdown([
        "connections",
        "target",
        "creates/s",
        "median ms",
        "99 % ms",
        "CPU µs/create",
        "of bare hyper's",
        "peak MiB",
    ]);
    for (cases, samples) in cases.chunks(targets.len()).zip(samples.chunks(targets.len())) {
        let floor = samples[1].cpu_us_per_create;
        for (case, sample) in cases.iter().zip(samples) {
            table.add_row([
                case.connections.to_string(),
                case.target.name.to_owned(),
                format!("{:.0}", sample.creates_per_second),
                format!("{:.2}", sample.median_ms),
                format!("{:.2}", sample.percentile_99_ms),
                format!("{:.1}", sample.cpu_us_per_create),
                format!("{:.2}", sample.cpu_us_per_create / floor),
                format!("{:.1}", sample.peak_mib),
            ]);
        }
    }
    Ok(table)
}
