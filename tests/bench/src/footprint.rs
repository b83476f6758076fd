//! The service's memory, idle and busy, what a create asks of the allocator, and the time to start
//! on an existing store.

use std::fs;
use std::slice::from_ref;
use std::time::Duration;

use anyhow::{Context, Result};
use comfy_table::Table;
use plant_store_tests::median;

use crate::load::{Amount, Load};
use crate::markdown;
use crate::plants::Order;
use crate::store::scratch;
use crate::target::{self, LOG, Target};

const CONNECTIONS: usize = 1000;
const CREATES: usize = 60_000;

pub fn table(service: &Target, rounds: usize) -> Result<Table> {
    let folder = scratch()?;
    let running = service.start(folder.path())?;
    let idle = running.memory_mib("VmRSS")?;
    let all = Amount { creates: CREATES, time: Duration::MAX };
    Load::connect(from_ref(&running), CONNECTIONS, Order::Ascending, 0)?.create(all)?;
    let busy = running.memory_mib("VmHWM")?;
    drop(running);
    let mut starts = Vec::new();
    for _ in 0..rounds {
        starts.push(service.start(folder.path())?.started_in.as_secs_f64() * 1e3);
    }
    let mut table = markdown(["the service", "measured"]);
    table.add_row(["idle memory, MiB", &format!("{idle:.1}")]);
    table.add_row([
        &format!("peak memory with {CONNECTIONS} connections at work, MiB"),
        &format!("{busy:.1}"),
    ]);
    let [allocations, bytes] = allocated()?;
    table.add_row(["allocations of a create", &format!("{allocations:.1}")]);
    table.add_row(["bytes that a create allocates", &format!("{bytes:.0}")]);
    table.add_row([
        &format!("from start to serving, on a store of {CREATES} plants after SIGKILL, ms"),
        &format!("{:.1}", median(starts.into_iter())),
    ]);
    Ok(table)
}

/// How often a create asks for memory, and for how many bytes.
fn allocated() -> Result<[f64; 2]> {
    let service = target::counting()?;
    let allocated_by = |creates| -> Result<[f64; 2]> {
        let folder = scratch()?;
        let running = service.start(folder.path())?;
        let amount = Amount { creates, time: Duration::MAX };
        Load::connect(from_ref(&running), 64, Order::Ascending, 0)?.create(amount)?;
        running.stop()?;
        let log = fs::read_to_string(folder.path().join(LOG))?;
        let line = log.lines().last().and_then(|line| line.split_once(' '));
        let (allocations, bytes) = line.context("the service has counted nothing")?;
        Ok([allocations.parse()?, bytes.parse()?])
    };
    // Both hold the start, the connections and the end.
    let some = allocated_by(CREATES / 4)?;
    let twice = allocated_by(CREATES / 2)?;
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let creates = (CREATES / 4) as f64;
    Ok([0, 1].map(|figure| (twice[figure] - some[figure]) / creates))
}
