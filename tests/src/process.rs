//! CPU time, memory and open files of a process, as the kernel counts and limits them.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// The CPU time of the whole process so far.
pub fn cpu_time(process: Pid) -> Result<Duration> {
    Ok(clock_gettime(clock_getcpuclockid(process)?)?.into())
}

/// A line of `/proc/PID/status`, such as `VmRSS` or `VmHWM`, in MiB.
pub fn memory_mib(process: Pid, line: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib: u32 = status
        .lines()
        .find_map(|text| text.strip_prefix(line)?.strip_prefix(':'))
        .and_then(|value| value.trim().strip_suffix(" kB")?.parse().ok())
        .with_context(|| format!("no {line} in /proc"))?;
    Ok(f64::from(kib) / 1024.0)
}

/// How many files the process has open.
pub fn open_files(process: Pid) -> usize {
    let files = fs::read_dir(format!("/proc/{process}/fd")).expect("the process is there");
    files.count()
}

/// Raises the soft limit on open files to the hard limit, for this process and those that it
/// starts. A connection takes a file at each of its two ends.
pub fn allow_many_files() -> Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}
