//! What is measured of a target.

use std::slice::from_ref;
use std::time::Duration;

use anyhow::{Context, Result};
use plant_store_tests::median;

use crate::load::{Amount, Load};
use crate::plants::Order;
use crate::store::{Filled, scratch};
use crate::target::Target;

/// Enough for memory, caches and the length of the WAL to settle.
const WARM_UP: Amount = Amount { creates: 10_000, time: Duration::from_secs(1) };
/// Enough for several checkpoints of the WAL.
const MEASURED: usize = 60_000;

/// How much is measured.
#[derive(Clone, Copy)]
pub struct Effort {
    /// How often; the tables show the medians.
    pub rounds: usize,
    /// The longest time of a round.
    pub time: Duration,
}

/// What to measure: a target under a load, on a new store or on a copy of a filled one.
pub struct Case<'a> {
    pub target: &'a Target,
    pub connections: usize,
    pub store: Option<&'a Filled>,
    /// Plants a second, if they arrive at a fixed rate.
    pub arrivals: Option<u32>,
}

/// What was measured.
pub struct Sample {
    pub creates_per_second: f64,
    pub median_ms: f64,
    pub percentile_99_ms: f64,
    pub percentile_99_9_ms: f64,
    pub cpu_us_per_create: f64,
    pub peak_mib: f64,
}

/// Measures each case once a round, in turn, so that a minute in which the machine is busy affects
/// all of them. Returns the medians.
pub fn measure(cases: &[Case], Effort { rounds, time }: Effort) -> Result<Vec<Sample>> {
    let mut samples: Vec<Vec<Sample>> = cases.iter().map(|_| Vec::new()).collect();
    for round in 1..=rounds {
        for (index, (case, samples)) in cases.iter().zip(&mut samples).enumerate() {
            let name = case.target.name;
            eprintln!("round {round} of {rounds}, {} of {}: {name}", index + 1, cases.len());
            samples.push(case.measure(time).context(name)?);
        }
    }
    Ok(samples.iter().map(|samples| Sample::median(samples)).collect())
}

impl Case<'_> {
    fn measure(&self, time: Duration) -> Result<Sample> {
        let folder = scratch()?;
        let (order, plants) = match self.store {
            Some(filled) => {
                filled.copy_to(folder.path())?;
                (filled.order, filled.plants.into())
            }
            None => (Order::Ascending, 0),
        };
        let running = self.target.start(folder.path())?;
        let mut load = Load::connect(from_ref(&running), self.connections, order, plants)?;
        load.create(Amount { time: time.min(WARM_UP.time), ..WARM_UP })?;
        let before = running.cpu()?;
        let run = match self.arrivals {
            Some(per_second) => load.arrive(per_second, time)?,
            None => load.create(Amount { creates: MEASURED, time })?,
        };
        let cpu = running.cpu()?.saturating_sub(before);
        let creates = f64::from(u32::try_from(run.latencies.len())?);
        Ok(Sample {
            creates_per_second: creates / run.elapsed.as_secs_f64(),
            median_ms: run.per_mille_ms(500),
            percentile_99_ms: run.per_mille_ms(990),
            percentile_99_9_ms: run.per_mille_ms(999),
            cpu_us_per_create: cpu.as_secs_f64() * 1e6 / creates,
            peak_mib: running.memory_mib("VmHWM")?,
        })
    }
}

impl Sample {
    fn median(samples: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> f64| median(samples.iter().map(figure));
        Self {
            creates_per_second: of(|sample| sample.creates_per_second),
            median_ms: of(|sample| sample.median_ms),
            percentile_99_ms: of(|sample| sample.percentile_99_ms),
            percentile_99_9_ms: of(|sample| sample.percentile_99_9_ms),
            cpu_us_per_create: of(|sample| sample.cpu_us_per_create),
            peak_mib: of(|sample| sample.peak_mib),
        }
    }
}
