//! A server as a process, for the chores that call it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A serving process. Dropping it kills it.
pub struct Running {
    process: Child,
    /// Where it listens.
    pub url: String,
    /// An accepted token; empty if the server asks for none.
    pub token: String,
}

impl Running {
    /// Starts a server in a folder, with its log in a file there.
    pub fn start(command: &mut Command, folder: &Path) -> Result<Self> {
        let log = File::create(folder.join("log"))?;
        let command = command.current_dir(folder).stdin(Stdio::null());
        let mut process = command.stdout(Stdio::piped()).stderr(log).spawn()?;
        let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let mut server = Self { process, url: String::new(), token: String::new() };
        for line in lines {
            let line = line?;
            // The service prints a command with the first token before it listens.
            if let Some((_, token)) = line.split_once("Bearer ") {
                server.token.push_str(token.split('\'').next().unwrap_or_default());
            } else if let Some((_, url)) = line.split_once("listening on ") {
                server.url.push_str(url);
                return Ok(server);
            }
        }
        bail!("the server does not listen")
    }

    /// The CPU time of all threads so far, in microseconds: `utime` and `stime` (proc(5)).
    pub fn cpu_us(&self) -> Result<f64> {
        /// Linux has 100 of them a second on each usual machine.
        const US_OF_A_TICK: f64 = 10_000.0;
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // The name, in brackets, may hold any character. The third field is after it.
        let (_, fields) = stat.rsplit_once(") ").context("no name in /proc")?;
        let ticks = fields.split(' ').skip(14 - 3).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? * US_OF_A_TICK)
    }

    /// A line of `/proc/PID/status`, such as `VmRSS` or `VmHWM`, in MiB.
    pub fn memory_mib(&self, line: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
        let kib = value.and_then(|value| value.trim().strip_suffix(" kB"));
        Ok(kib.with_context(|| format!("no {line} in /proc"))?.parse::<f64>()? / 1024.0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
