//! How long clients wait while plants arrive at a fixed rate.

use anyhow::Result;
use comfy_table::Table;

use crate::markdown;
use crate::sample::{Case, Effort, measure};
use crate::target::Target;

const CONNECTIONS: usize = 256;
const RATES: [u32; 3] = [1_000, 10_000, 30_000];

/// The latency of each target at each rate, as far as it keeps up.
pub fn table(targets: &[Target], effort: Effort) -> Result<Table> {
    let mut cases = Vec::new();
    for arrivals in RATES.map(Some) {
        let case = |target| Case { target, connections: CONNECTIONS, store: None, arrivals };
        cases.extend(targets.iter().map(case));
    }
    let samples = measure(&cases, effort)?;
    let mut table = markdown([
        "arrivals/s",
        "target",
        "creates/s",
        "median ms",
        "99 % ms",
        "99.9 % ms",
        "CPU µs/create",
    ]);
    for (case, sample) in cases.iter().zip(&samples) {
        let rate = case.arrivals.unwrap_or_default();
        let keeps_up = sample.creates_per_second > 0.95 * f64::from(rate);
        let latency =
            |ms: f64| if keeps_up { format!("{ms:.2}") } else { "falls behind".to_owned() };
        table.add_row([
            rate.to_string(),
            case.target.name.to_owned(),
            format!("{:.0}", sample.creates_per_second),
            latency(sample.median_ms),
            latency(sample.percentile_99_ms),
            latency(sample.percentile_99_9_ms),
            format!("{:.1}", sample.cpu_us_per_create),
        ]);
    }
    Ok(table)
}
