//! How the cost of a create grows with the number of plants in the store.

use std::path::Path;

use anyhow::Result;
use comfy_table::Table;

use crate::figure::{Line, write_growth};
use crate::markdown;
use crate::plants::Order;
use crate::sample::{Case, Sample, measure};
use crate::store::Filled;
use crate::target::Target;

const CONNECTIONS: usize = 64;
const PLANTS: [(&str, u32); 3] =
    [("10 thousand", 10_000), ("1 million", 1_000_000), ("10 million", 10_000_000)];
const ORDERS: [(&str, Order); 2] = [("in order", Order::Ascending), ("random", Order::Random)];

/// Returns the table, and writes the CPU time as a figure.
pub fn table(service: &Target, rounds: usize, figures: &Path) -> Result<Table> {
    let mut stores = Vec::new();
    for (ids, order) in ORDERS {
        for (amount, plants) in PLANTS {
            eprintln!("filling a store with {amount} plants, ids {ids}");
            stores.push((ids, amount, Filled::new(order, plants)?));
        }
    }
    let cases: Vec<Case> = stores
        .iter()
        .map(|(.., store)| Case { target: service, connections: CONNECTIONS, store: Some(store) })
        .collect();
    let samples = measure(&cases, rounds)?;
    let line = |(name, samples): (_, &[Sample])| Line {
        name,
        points: PLANTS
            .iter()
            .zip(samples)
            .map(|(&(_, plants), sample)| (f64::from(plants), sample.cpu_us_per_create))
            .collect(),
    };
    let lines: Vec<Line> = ORDERS
        .map(|(name, _)| name)
        .into_iter()
        .zip(samples.chunks(PLANTS.len()))
        .map(line)
        .collect();
    write_growth(&figures.join("growth.svg"), &lines)?;
    let mut table = markdown([
        "ids",
        "plants",
        "file MiB",
        "bytes/plant",
        "CPU µs/create",
        "of 10 thousand's",
        "creates/s",
        "99 % ms",
        "peak MiB",
    ]);
    for (stores, samples) in stores.chunks(PLANTS.len()).zip(samples.chunks(PLANTS.len())) {
        let smallest = samples[0].cpu_us_per_create;
        for ((ids, amount, store), sample) in stores.iter().zip(samples) {
            table.add_row([
                (*ids).to_owned(),
                (*amount).to_owned(),
                format!("{:.1}", store.bytes()? / 1024.0 / 1024.0),
                format!("{:.1}", store.bytes()? / f64::from(store.plants)),
                format!("{:.1}", sample.cpu_us_per_create),
                format!("{:.2}", sample.cpu_us_per_create / smallest),
                format!("{:.0}", sample.creates_per_second),
                format!("{:.2}", sample.percentile_99_ms),
                format!("{:.1}", sample.peak_mib),
            ]);
        }
    }
    Ok(table)
}
