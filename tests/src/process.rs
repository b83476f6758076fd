//! What the kernel knows of a process, and allows it.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// The CPU time of the whole process so far.
///
/// # Errors
///
/// Where there is no such process.
pub fn cpu_time(process: Pid) -> Result<Duration> {
    Ok(clock_gettime(clock_getcpuclockid(process)?)?.into())
}

/// A line of `/proc/PID/status`, such as `VmRSS` or `VmHWM`, in MiB.
///
/// # Errors
///
/// Where there is no such process, or no such line.
pub fn memory_mib(process: Pid, line: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib: u32 = status
        .lines()
        .find_map(|text| text.strip_prefix(line)?.strip_prefix(':'))
        .and_then(|value| value.trim().strip_suffix(" kB")?.parse().ok())
        .with_context(|| format!("no {line} in /proc"))?;
    Ok(f64::from(kib) / 1024.0)
}

/// Lifts the soft limit on open files for this process and those that it starts: each connection
/// is a file at both of its ends.
///
/// # Errors
///
/// Where the operating system refuses.
pub fn allow_many_files() -> Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}
