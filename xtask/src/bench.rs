//! The benchmark: wrk loads the service and textbook Dropshot in turn, and a table shows what a
//! create costs.
//!
//! The server runs on one core, and the load generator on another. Each round measures both servers
//! under every load, so a busy minute of the machine affects all of them.

use std::ffi::OsStr;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args as Arguments;
use xshell::cmd;

use crate::checkout::{root, shell, target};
use crate::server::Running;

const SERVER_CORE: usize = 0;
const LOAD_CORE: usize = 1;

/// The loads, as numbers of connections. Each connection sends the next create after the previous
/// answer.
const LOADS: [usize; 3] = [64, 256, 1024];

const WARM_UP_SECONDS: usize = 1;
const SECONDS: usize = 5;

/// The servers, and their arguments. A token may hold half of the permits, and the load uses one
/// token.
const SERVERS: [(&str, &[&str]); 2] = [
    ("plant-store", &["serve", "--listen", "127.0.0.1:0", "--max-creates", "4096"]),
    ("textbook-dropshot", &[]),
];

/// The head of the table. The figures are medians; the minimum and the maximum are in brackets.
const HEAD: &str = "\
| connections | server | creates/s | median ms | 99 % ms | CPU µs/create | relative to Dropshot | MiB, idle–peak |
| --- | --- | --- | --- | --- | --- | --- | --- |";

/// The arguments of the benchmark.
#[derive(Arguments)]
pub struct Args {
    /// Number of rounds
    #[arg(default_value = "5")]
    rounds: NonZeroUsize,
}

/// A server under a load.
struct Case {
    connections: usize,
    server: &'static str,
    arguments: &'static [&'static str],
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
pub fn run(Args { rounds }: &Args) -> Result<()> {
    let sh = shell()?;
    let packages = ["--package", "plant-store-server", "--package", "plant-store-bench"];
    cmd!(sh, "cargo build --release --locked --bins {packages...}").run()?;
    let mut cases = Vec::new();
    for connections in LOADS {
        cases.extend(SERVERS.map(|(server, arguments)| Case {
            connections,
            server,
            arguments,
            samples: Vec::new(),
        }));
    }
    for round in 1..=rounds.get() {
        for case in &mut cases {
            eprintln!("round {round} of {rounds}: {}, {}", case.connections, case.server);
            case.samples.push(measure(case).context(case.server)?);
        }
    }
    println!("{HEAD}");
    for same_load in cases.chunks(SERVERS.len()) {
        let textbook = same_load.last().expect("the textbook");
        let textbook_cpu = Spread::of(&textbook.samples, |sample| sample.cpu_us).median;
        for case in same_load {
            println!("{}", row(case, textbook_cpu));
        }
    }
    Ok(())
}

/// Measures a server with a new store under a load.
fn measure(case: &Case) -> Result<Sample> {
    let built = target()?.join("release");
    // On the disk of the target folder, because /tmp may be in memory, where fsync costs nothing.
    let folder = built.join("bench-store");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut command = on_core(SERVER_CORE, built.join(case.server));
    let server = Running::start(command.args(case.arguments), &folder)?;
    let idle_mib = server.memory_mib("VmRSS")?;
    load(case.connections, &server, WARM_UP_SECONDS, 1)?;
    let before = server.cpu_us()?;
    // Above the ids of the warm-up.
    let [count, seconds, median_ms, percentile_99_ms] =
        load(case.connections, &server, SECONDS, 10_000_000)?;
    let cpu = server.cpu_us()? - before;
    Ok(Sample {
        per_second: count / seconds,
        median_ms,
        percentile_99_ms,
        cpu_us: cpu / count,
        idle_mib,
        peak_mib: server.memory_mib("VmHWM")?,
    })
}

/// Runs wrk with its script, `tests/bench/create.lua`. Returns the number of creates, the duration
/// in seconds, and the median and 99th percentile of the latency in milliseconds.
fn load(connections: usize, server: &Running, seconds: usize, first_id: usize) -> Result<[f64; 4]> {
    let script: &Path = &root().join("tests/bench/create.lua");
    let Running { url, token, .. } = server;
    let mut wrk = on_core(LOAD_CORE, "wrk");
    wrk.arg("--threads=1").arg(format!("--connections={connections}"));
    wrk.args([&format!("--duration={seconds}s"), "--timeout=10s"]);
    wrk.arg("--script").arg(script).arg(format!("{url}/plants"));
    wrk.args(["--", &first_id.to_string(), token]);
    let output = wrk.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let printed = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "wrk failed: is it installed? {printed}");
    let numbers = printed.lines().last().unwrap_or_default().split(' ').map(str::parse);
    let numbers: Vec<f64> = numbers.collect::<Result<_, _>>().context(printed.clone())?;
    let &[count, seconds, median_ms, percentile_99_ms, failed] = &numbers[..] else {
        bail!("not five numbers: {printed}");
    };
    ensure!(failed == 0.0, "{failed} requests failed: {printed}");
    Ok([count, seconds, median_ms, percentile_99_ms])
}

/// Returns a command that runs a program on this core alone, with the hard limit on open files as
/// its soft limit, because each connection takes a file at each end.
fn on_core(core: usize, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n $(ulimit -Hn) && exec taskset -c \"$@\"", "sh"]);
    command.arg(core.to_string()).arg(program);
    command
}

/// Formats a row of the table.
fn row(Case { connections, server, samples, .. }: &Case, textbook_cpu: f64) -> String {
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
        "| {connections} | {server} | {rate} | {median_ms:.2} | {percentile_99_ms:.2} | {cpu} | \
         {ratio:.2} | {idle:.0}–{peak:.0} |"
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
