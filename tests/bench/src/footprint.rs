//! The service's memory, idle and busy, and its time to start on an existing store.

use std::slice::from_ref;
use std::time::Duration;

use anyhow::Result;
use comfy_table::Table;
use plant_store_tests::median;

use crate::load::{Amount, Load};
use crate::markdown;
use crate::plants::Order;
use crate::store::scratch;
use crate::target::Target;

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
    table.add_row([
        &format!("from start to serving, on a store of {CREATES} plants after SIGKILL, ms"),
        &format!("{:.1}", median(starts.into_iter())),
    ]);
    Ok(table)
}
