//! The memory and the open files of a process, as reported by the kernel.

use std::fs;

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::Pid;

/// Returns the peak memory of the process so far, in MiB.
pub fn peak_memory_mib(process: Pid) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib: u32 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|value| value.trim().strip_suffix(" kB")?.parse().ok())
        .context("no VmHWM in /proc")?;
    Ok(f64::from(kib) / 1024.0)
}

/// Returns the number of files that the process has open.
pub fn open_files(process: Pid) -> usize {
    let files = fs::read_dir(format!("/proc/{process}/fd")).expect("the process is there");
    files.count()
}

/// Raises the soft limit on open files to the hard limit, for this process and its children. A
/// connection takes a file at each of its two ends.
pub fn allow_many_files() -> Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}
