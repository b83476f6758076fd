//! How the cost of a create grows with the number of plants in the store.

use std::path::Path;

use anyhow::Result;
use comfy_table::Table;

use crate::figure::{Line, amount, write_growth};
use crate::markdown;
use crate::plants::Order;
use crate::sample::{Case, Effort, Sample, measure};
use crate::store::Filled;
use crate::target::Target;

const CONNECTIONS: usize = 64;
const ORDERS: [(&str, Order); 2] = [("in order", Order::Ascending), ("random", Order::Random)];

/// Returns the table, and writes the CPU time as a figure.
pub fn table(service: &Target, plants: &[u32], effort: Effort, figures: &Path) -> Result<Table> {
    let mut stores = Vec::new();
    for (ids, order) in ORDERS {
        for &plants in plants {
            let amount = amount(f64::from(plants));
            eprintln!("filling a store with {amount} plants, ids {ids}");
            stores.push((ids, amount, Filled::new(order, plants)?));
        }
    }
    let cases: Vec<Case> = stores
        .iter()
        .map(|(.., store)| Case {
            target: service,
            connections: CONNECTIONS,
            store: Some(store),
            arrivals: None,
        })
        .collect();
    let samples = measure(&cases, effort)?;
    let line = |(name, samples): (_, &[Sample])| Line {
        name,
        points: plants
            .iter()
            .zip(samples)
            .map(|(&plants, sample)| (f64::from(plants), sample.cpu_us_per_create))
            .collect(),
    };
    let lines: Vec<Line> = ORDERS
        .map(|(name, _)| name)
        .into_iter()
        .zip(samples.chunks(plants.len()))
        .map(line)
        .collect();
    write_growth(&figures.join("growth.svg"), &lines)?;
    let mut table = markdown([
        "ids",
        "plants",
        "file MiB",
        "bytes/plant",
        "CPU µs/create",
        "of the first's",
        "creates/s",
        "99 % ms",
        "peak MiB",
    ]);
    for (stores, samples) in stores.chunks(plants.len()).zip(samples.chunks(plants.len())) {
        let first = samples[0].cpu_us_per_create;
        for ((ids, amount, store), sample) in stores.iter().zip(samples) {
            table.add_row([
                (*ids).to_owned(),
                amount.clone(),
                format!("{:.1}", store.bytes()? / 1024.0 / 1024.0),
                format!("{:.1}", store.bytes()? / f64::from(store.plants)),
                format!("{:.1}", sample.cpu_us_per_create),
                format!("{:.2}", sample.cpu_us_per_create / first),
                format!("{:.0}", sample.creates_per_second),
                format!("{:.2}", sample.percentile_99_ms),
                format!("{:.1}", sample.peak_mib),
            ]);
        }
    }
    Ok(table)
}
