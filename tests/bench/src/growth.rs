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

/// A store that is measured, and how the table names it.
struct Stored {
    ids: &'static str,
    amount: String,
    store: Filled,
}

/// Returns the table, and writes the CPU time as a figure.
pub fn table(service: &Target, plants: &[u32], effort: Effort, figures: &Path) -> Result<Table> {
    let mut stores = Vec::new();
    for (ids, order) in ORDERS {
        for &plants in plants {
            let amount = amount(f64::from(plants));
            eprintln!("filling a store with {amount} plants, ids {ids}");
            stores.push(Stored { ids, amount, store: Filled::new(order, plants)? });
        }
    }
    let mut cases = Vec::new();
    for Stored { store, .. } in &stores {
        let store = Some(store);
        cases.push(Case { target: service, connections: CONNECTIONS, store, arrivals: None });
    }
    let samples = measure(&cases, effort)?;
    let line = |((name, _), samples): ((_, Order), &[Sample])| {
        let cpu = samples.iter().map(|sample| sample.cpu_us_per_create);
        let points = plants.iter().map(|plants| f64::from(*plants)).zip(cpu).collect();
        Line { name, points }
    };
    let by_order = ORDERS.into_iter().zip(samples.chunks(plants.len()));
    let lines: Vec<Line> = by_order.map(line).collect();
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
        for (Stored { ids, amount, store }, sample) in stores.iter().zip(samples) {
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
