//! The benchmark: the service, a bare hyper server over the same store, and the service with the
//! store taken out, side by side in one run, in turn. `cargo xtask bench` builds and runs it.
//!
//! Look at the CPU time of a create before its throughput: on a shared machine the first is
//! steady and the second is not. The servers have one core and the load another.

mod load;
mod target;

use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::{Table, presets};

use load::Load;
use target::Target;

/// Each target is measured that often, in turn; the table shows the medians.
const ROUNDS: usize = 5;
const CONNECTIONS: usize = 64;
const CREATES: usize = 60_000;
const WARM_UP: usize = 10_000;

const MANY_CONNECTIONS: usize = 1000;

/// What one run of one target measured.
struct Sample {
    creates_per_second: f64,
    median_ms: f64,
    percentile_99_ms: f64,
    cpu_us_per_create: f64,
    peak_mib: f64,
}

fn main() -> Result<()> {
    target::run_on(target::LOAD_CORE)?;
    let targets = target::all()?;
    let mut samples: Vec<Vec<Sample>> = targets.iter().map(|_| Vec::new()).collect();
    for round in 1..=ROUNDS {
        for (target, samples) in targets.iter().zip(&mut samples) {
            eprintln!("round {round} of {ROUNDS}: {}", target.name);
            samples.push(measure(target).with_context(|| target.name)?);
        }
    }
    println!("{}", table(&targets, &samples));
    let service = &targets[0];
    println!("{}", footprint(service)?);
    Ok(())
}

fn measure(target: &Target) -> Result<Sample> {
    let folder = scratch()?;
    let running = target.start(folder.path())?;
    let mut load = Load::connect(&running, CONNECTIONS)?;
    load.create(WARM_UP)?;
    let before = running.cpu()?;
    let run = load.create(CREATES)?;
    let cpu = running.cpu()?.saturating_sub(before);
    Ok(Sample {
        creates_per_second: per(run.latencies.len(), run.elapsed.as_secs_f64()),
        median_ms: run.percentile_ms(50),
        percentile_99_ms: run.percentile_ms(99),
        cpu_us_per_create: cpu.as_secs_f64() * 1e6 / count(run.latencies.len()),
        peak_mib: running.memory_mib("VmHWM")?,
    })
}

fn table(targets: &[Target], samples: &[Vec<Sample>]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "target",
        "creates/s",
        "median ms",
        "99 % ms",
        "CPU µs/create",
        "of bare hyper's",
        "peak MiB",
    ]);
    let cpu = |samples: &[Sample]| median(samples, |sample| sample.cpu_us_per_create);
    let floor = cpu(&samples[1]);
    for (target, samples) in targets.iter().zip(samples) {
        table.add_row([
            target.name.to_owned(),
            format!("{:.0}", median(samples, |sample| sample.creates_per_second)),
            format!("{:.2}", median(samples, |sample| sample.median_ms)),
            format!("{:.2}", median(samples, |sample| sample.percentile_99_ms)),
            format!("{:.1}", cpu(samples)),
            format!("{:.2}", cpu(samples) / floor),
            format!("{:.1}", median(samples, |sample| sample.peak_mib)),
        ]);
    }
    table
}

/// What the service needs beside the work: memory, and time to start on a store that is there.
fn footprint(service: &Target) -> Result<Table> {
    let folder = scratch()?;
    let running = service.start(folder.path())?;
    let idle = running.memory_mib("VmRSS")?;
    Load::connect(&running, MANY_CONNECTIONS)?.create(CREATES)?;
    let busy = running.memory_mib("VmHWM")?;
    drop(running);
    let mut starts = Vec::new();
    for _ in 0..ROUNDS {
        starts.push(service.start(folder.path())?.started_in.as_secs_f64() * 1e3);
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(["the service", "measured"]);
    table.add_row(["idle memory, MiB", &format!("{idle:.1}")]);
    table.add_row([
        &format!("peak memory with {MANY_CONNECTIONS} connections at work, MiB"),
        &format!("{busy:.1}"),
    ]);
    let start = median(&starts, |start| *start);
    table.add_row([
        &format!("from start to serving, on a store of {CREATES} plants after SIGKILL, ms"),
        &format!("{start:.1}"),
    ]);
    Ok(table)
}

/// On the disk that holds the build: a temporary folder may be in memory, where a sync is free.
fn scratch() -> Result<tempfile::TempDir> {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench");
    std::fs::create_dir_all(&parent)?;
    tempfile::tempdir_in(parent).context("cannot make a folder for the stores")
}

fn median<T>(samples: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    let mut figures: Vec<f64> = samples.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn per(amount: usize, seconds: f64) -> f64 {
    count(amount) / seconds
}

/// A count of requests: far below what a float holds exactly.
fn count(amount: usize) -> f64 {
    f64::from(u32::try_from(amount).expect("a run is shorter than 2^32 requests"))
}
