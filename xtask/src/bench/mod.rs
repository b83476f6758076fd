//! The benchmark: wrk and k6 load the service and the servers that it is compared with, in turn,
//! and a table shows the cost of a create.
//!
//! The server runs on one core, and the load generator on another. Each round measures every server
//! under every load, so a busy minute of the machine affects all of them.

mod load;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args as Arguments;
use xshell::cmd;

use crate::bench::load::{LOADS, Load, on_core};
use crate::checkout::{shell, target};
use crate::server::Running;

/// The core of the server. The load generator runs on core 1.
const CORE: usize = 0;

const TEXTBOOK_DROPSHOT: &str = "textbook Dropshot";

/// The head of the table. The figures are medians; the minimum and the maximum are in brackets.
const HEAD: &str = "\
| load | server | creates/s | median ms | 99 % ms | CPU µs/create | relative to Dropshot | MiB, idle–peak |
| --- | --- | --- | --- | --- | --- | --- | --- |";

/// The arguments of the benchmark.
#[derive(Arguments)]
pub struct Args {
    /// Number of rounds
    #[arg(default_value = "5")]
    rounds: NonZeroUsize,
    /// Other builds of the service, which are measured too
    #[arg(value_name = "PROGRAM")]
    others: Vec<PathBuf>,
}

/// A server to be measured.
struct Target {
    name: String,
    binary: PathBuf,
    arguments: &'static [&'static str],
}

/// A server under a load.
struct Case<'a> {
    load: &'a Load,
    target: &'a Target,
    /// One sample per round.
    samples: Vec<Sample>,
}

/// The figures of one round.
struct Sample {
    per_second: f64,
    median_ms: f64,
    percentile_99_ms: f64,
    cpu_us: f64,
    idle_mib: f64,
    peak_mib: f64,
}

/// Builds the servers, measures them, and prints the table.
pub fn run(Args { rounds, others }: &Args) -> Result<()> {
    let sh = shell()?;
    let packages = ["--package", "plant-store-server", "--package", "plant-store-bench"];
    cmd!(sh, "cargo build --profile dist --locked --bins {packages...}").run()?;
    let folder = target()?.join("dist");
    let targets = targets(&folder, others)?;
    let mut cases = Vec::new();
    for load in &LOADS {
        cases.extend(targets.iter().map(|target| Case { load, target, samples: Vec::new() }));
    }
    for round in 1..=rounds.get() {
        for case in &mut cases {
            eprintln!("round {round} of {rounds}: {}, {}", case.load, case.target.name);
            let sample = measure(case.load, case.target, &folder);
            case.samples.push(sample.with_context(|| case.target.name.clone())?);
        }
    }
    println!("{HEAD}");
    for same_load in cases.chunks(targets.len()) {
        let is_textbook = |case: &&Case| case.target.name == TEXTBOOK_DROPSHOT;
        let textbook = same_load.iter().find(is_textbook).expect("it is one of the targets");
        let textbook_cpu = Spread::of(&textbook.samples, |sample| sample.cpu_us).median;
        for case in same_load {
            println!("{}", row(case, textbook_cpu));
        }
    }
    Ok(())
}

/// Returns the service, the servers that it is compared with, and other builds of the service.
fn targets(folder: &Path, others: &[PathBuf]) -> Result<Vec<Target>> {
    // A token may hold half of the permits, and the load uses one token.
    let serve = &["serve", "--listen", "127.0.0.1:0", "--max-creates", "4096"];
    let mut targets = vec![Target {
        name: "the service".into(),
        binary: folder.join("plant-store"),
        arguments: serve,
    }];
    for name in ["bare hyper", TEXTBOOK_DROPSHOT, "textbook axum"] {
        let binary = folder.join(name.to_lowercase().replace(' ', "-"));
        targets.push(Target { name: name.into(), binary, arguments: &[] });
    }
    for other in others {
        // An absolute path, because each server runs in a folder of its own.
        let name = other.display().to_string();
        let binary = fs::canonicalize(other).with_context(|| format!("cannot find {name}"))?;
        targets.push(Target { name, binary, arguments: serve });
    }
    Ok(targets)
}

/// Measures a server with a new store under a load.
fn measure(load: &Load, target: &Target, folder: &Path) -> Result<Sample> {
    // On the disk of the target folder, because /tmp may be in memory, where fsync costs nothing.
    let folder = folder.join("bench-store");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut command = on_core(CORE, &target.binary);
    let server = Running::start(command.args(target.arguments), &folder)?;
    let idle_mib = server.memory_mib("VmRSS")?;
    load.warm_up(&server)?;
    let before = server.cpu_us()?;
    let report = load.measure(&server)?;
    let cpu = server.cpu_us()? - before;
    Ok(Sample {
        per_second: report.count / report.seconds,
        median_ms: report.median_ms,
        percentile_99_ms: report.percentile_99_ms,
        cpu_us: cpu / report.count,
        idle_mib,
        peak_mib: server.memory_mib("VmHWM")?,
    })
}

/// Formats a row of the table.
fn row(Case { load, target, samples }: &Case, textbook_cpu: f64) -> String {
    let of = |figure: fn(&Sample) -> f64| Spread::of(samples, figure);
    let rate = of(|sample| sample.per_second);
    let median_ms = of(|sample| sample.median_ms).median;
    let percentile_99_ms = of(|sample| sample.percentile_99_ms).median;
    let cpu = of(|sample| sample.cpu_us);
    let ratio = cpu.median / textbook_cpu;
    let idle = of(|sample| sample.idle_mib).median;
    let peak = of(|sample| sample.peak_mib).median;
    let rate = format!("{:.0} ({:.0}–{:.0})", rate.median, rate.min, rate.max);
    let cpu = format!("{:.1} ({:.1}–{:.1})", cpu.median, cpu.min, cpu.max);
    format!(
        "| {load} | {} | {rate} | {median_ms:.2} | {percentile_99_ms:.2} | {cpu} | {ratio:.2} | \
         {idle:.0}–{peak:.0} |",
        target.name
    )
}

/// The minimum, median and maximum of a figure over all rounds.
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

impl Spread {
    fn of(samples: &[Sample], figure: fn(&Sample) -> f64) -> Self {
        let mut figures: Vec<f64> = samples.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        let last = figures.len() - 1;
        Self { min: figures[0], median: figures[figures.len() / 2], max: figures[last] }
    }
}
