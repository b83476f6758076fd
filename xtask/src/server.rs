//! Runs a server as a process, for the chores that send requests to it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A running server. Dropping this kills the process.
pub struct Running {
    process: Child,
    /// The URL at which it listens.
    pub url: String,
    /// An accepted token, or an empty string if the server requires none.
    pub token: String,
}

impl Running {
    /// Starts a server in this folder, and waits until it listens. Its log is the file `log` there.
    pub fn start(command: &mut Command, folder: &Path) -> Result<Self> {
        let log = File::create(folder.join("log"))?;
        let command = command.current_dir(folder).stdin(Stdio::null());
        let mut process = command.stdout(Stdio::piped()).stderr(log).spawn()?;
        let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let mut server = Self { process, url: String::new(), token: String::new() };
        for line in lines {
            let line = line?;
            // The service prints the first token before it listens.
            if let Some(token) = line.strip_prefix("TOKEN=") {
                server.token.push_str(token);
            } else if let Some((_, url)) = line.split_once("listening on ") {
                server.url.push_str(url);
                return Ok(server);
            }
        }
        bail!("the server ended before it listened")
    }

    /// Returns the environment variables that tell a client about the server.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        [("PLANTS_URL", &self.url), ("PLANTS_TOKEN", &self.token)]
    }

    /// Returns the CPU time of all threads so far in microseconds: `utime` plus `stime` (proc(5)).
    pub fn cpu_us(&self) -> Result<f64> {
        /// On all common architectures Linux counts 100 ticks per second for programs.
        const US_PER_TICK: f64 = 10_000.0;
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // The name in brackets may contain any character. The third field follows it.
        let (_, fields) = stat.rsplit_once(") ").context("/proc/PID/stat contains no name")?;
        let ticks = fields.split(' ').skip(14 - 3).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? * US_PER_TICK)
    }

    /// Returns a field of `/proc/PID/status`, such as `VmRSS` or `VmHWM`, in MiB.
    pub fn memory_mib(&self, field: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        let kib = value.and_then(|value| value.trim().strip_suffix(" kB"));
        Ok(kib.with_context(|| format!("/proc/PID/status contains no {field}"))?.parse::<f64>()?
            / 1024.0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
