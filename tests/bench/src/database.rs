//! The PostgreSQL of the benchmark: what its work costs, and the way to it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use nix::time::ClockId;
use nix::unistd::{Pid, SysconfVar, sysconf};
use plant_store_tests::postgres::{Cluster, Link};
use plant_store_tests::process::cpu_time;

/// A server with its default settings, reached directly or through a link that delays.
pub struct Server {
    pub cluster: Cluster,
    link: Link,
}

/// CPU times so far.
#[derive(Clone, Copy)]
pub struct Cpu {
    /// Of all processes of the server, also of those that have ended.
    pub database: Duration,
    /// Of the link, which takes its time from the same cores.
    pub link: Duration,
}

impl Cpu {
    /// The time from the other one until this one; also what is left without the other one.
    pub fn less(self, other: Self) -> Self {
        Self {
            database: self.database.saturating_sub(other.database),
            link: self.link.saturating_sub(other.link),
        }
    }
}

impl Server {
    pub fn start() -> Result<Self> {
        let cluster = Cluster::start();
        let folder = cluster.session("postgres").value("SHOW data_directory");
        ensure!(
            statfs(Path::new(&folder))?.filesystem_type() != TMPFS_MAGIC,
            "{folder} is in memory, where fsync costs nothing: set TMPDIR to a folder on a disk"
        );
        let link = Link::new(&cluster);
        Ok(Self { cluster, link })
    }

    /// The URL of a database, with that time of a round trip to it.
    pub fn url(&self, database: &str, round_trip: Duration) -> String {
        if round_trip.is_zero() {
            return self.cluster.url(database);
        }
        self.link.delay(round_trip / 2);
        self.link.url(database)
    }

    /// The CPU times so far. No session of the load may begin or end meanwhile.
    pub fn cpu(&self) -> Result<Cpu> {
        // The load is on this thread, and the link on the others of this process.
        let process = cpu_time(Pid::this())?;
        let thread: Duration = ClockId::CLOCK_THREAD_CPUTIME_ID.now()?.into();
        Ok(Cpu { database: self.database_cpu()?, link: process.saturating_sub(thread) })
    }

    fn database_cpu(&self) -> Result<Duration> {
        let server = self.cluster.pid();
        loop {
            let children = children(server)?;
            let running: Result<Duration> = children.iter().map(|child| cpu_time(*child)).sum();
            let ended = cpu_time_of_ended_children(server)?;
            // If a child ended meanwhile, its time was read twice or not at all.
            if children == self::children(server)? {
                return Ok(cpu_time(server)? + running? + ended);
            }
        }
    }
}

/// The processes that this one has started, and has not waited for.
fn children(process: Pid) -> Result<Vec<Pid>> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
    children.split_whitespace().map(|pid| Ok(Pid::from_raw(pid.parse()?))).collect()
}

/// `cutime` and `cstime` (proc(5), `/proc/PID/stat`), in whole clock ticks.
fn cpu_time_of_ended_children(process: Pid) -> Result<Duration> {
    const CUTIME: usize = 16;
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name, in brackets, may hold any character. The third field is after it.
    let (_, fields) = stat.rsplit_once(") ").context("no name in /proc")?;
    let times = fields.split(' ').skip(CUTIME - 3).take(2).map(str::parse::<u64>);
    let ticks = times.sum::<Result<u64, _>>()?;
    let a_second = sysconf(SysconfVar::CLK_TCK)?.context("no clock ticks")?;
    Ok(Duration::from_millis(ticks * 1000 / u64::try_from(a_second)?))
}
