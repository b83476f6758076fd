//! The programs that are measured, as processes.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_launcher::{Launched, token};
use plant_store_tests::process::{cpu_time, memory_mib};

use crate::store::TOKEN;

const SERVER_CORE: usize = 0;
pub const LOAD_CORE: usize = 1;

/// The file with what a program writes to standard error, in the folder where it runs.
pub const LOG: &str = "log";

/// A program that creates plants.
pub struct Target {
    pub name: &'static str,
    binary: PathBuf,
    arguments: &'static [&'static str],
    /// Whether it asks for a token, and prints one for a new store.
    asks_for_token: bool,
}

/// The service is first, bare hyper second and bare Dropshot third: the tables give figures
/// relative to these. Another build of the service is last, if there is one.
pub fn all(other_build: Option<PathBuf>) -> Result<Vec<Target>> {
    let mut targets = vec![
        service("the service, access log on", binary("plant-store")?),
        bare("bare hyper", &["hyper"])?,
        bare("bare Dropshot", &["dropshot"])?,
        bare("axum over the same store", &["axum"])?,
        Target {
            name: "axum and sqlx, a commit a plant",
            // It has a target folder of its own, beside the workspace's profiles.
            binary: binary("../axum-sqlx-server/release/axum-sqlx-server")?,
            arguments: &[],
            asks_for_token: false,
        },
    ];
    if let Some(binary) = other_build {
        // A target runs in a folder of its own.
        let binary = binary.canonicalize().with_context(|| format!("no {}", binary.display()))?;
        targets.push(service("the other build of the service", binary));
    }
    Ok(targets)
}

/// The service with an allocator that counts.
pub fn counting() -> Result<Target> {
    Ok(service("the service, counting", binary("counting-service")?))
}

fn bare(name: &'static str, arguments: &'static [&'static str]) -> Result<Target> {
    Ok(Target { name, binary: binary("bare-server")?, arguments, asks_for_token: false })
}

fn service(name: &'static str, binary: PathBuf) -> Target {
    let arguments = &["serve", "--listen", "127.0.0.1:0", "--log-format", "json"];
    Target { name, binary, arguments, asks_for_token: true }
}

fn binary(name: &str) -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    path.canonicalize().with_context(|| format!("{name} is not built: use cargo xtask bench"))
}

/// A serving process. Dropping it kills it.
pub struct Running {
    launched: Launched,
    pub address: SocketAddr,
    /// An accepted token; a server without tokens takes any.
    pub token: String,
    /// From the start of the process to the line that says where it listens.
    pub started_in: Duration,
}

impl Target {
    /// Starts the program in that folder, on a core of its own, with its log in a file there.
    pub fn start(&self, folder: &Path) -> Result<Running> {
        // A child inherits the core. Its runtime counts the cores when it starts.
        run_on(SERVER_CORE)?;
        let running = self.launch(folder, None);
        run_on(LOAD_CORE)?;
        running
    }

    /// The same, on the cores of this thread, with the store of that URL.
    pub fn start_beside(&self, folder: &Path, store: &str) -> Result<Running> {
        self.launch(folder, Some(store))
    }

    fn launch(&self, folder: &Path, store: Option<&str>) -> Result<Running> {
        let existing = folder.join(TOKEN);
        let log = File::options().create(true).append(true).open(folder.join(LOG))?;
        let mut command = Command::new(&self.binary);
        command.args(self.arguments).current_dir(folder).stderr(log);
        // One token has half of the permits, and the load has one token for 1,024 connections.
        command.env("PLANT_STORE_MAX_CREATES", "4096");
        command.envs(store.map(|url| ("PLANT_STORE_STORE", url)));
        let started = Instant::now();
        let mut launched = Launched::start(&mut command)?;
        let started_in = started.elapsed();
        let token = match fs::read_to_string(&existing) {
            Ok(existing) => existing,
            Err(_) if !self.asks_for_token => String::new(),
            Err(_) => token(&launched.first_request()?)?.to_owned(),
        };
        fs::write(existing, &token)?;
        Ok(Running { address: launched.address, launched, token, started_in })
    }
}

impl Running {
    /// The CPU time of the whole process so far.
    pub fn cpu(&self) -> Result<Duration> {
        cpu_time(self.pid()?)
    }

    /// A line of `/proc/PID/status`, such as `VmRSS` or `VmHWM`, in MiB.
    pub fn memory_mib(&self, line: &str) -> Result<f64> {
        memory_mib(self.pid()?, line)
    }

    /// Has the process stop, and waits for that.
    pub fn stop(mut self) -> Result<()> {
        kill(self.pid()?, Signal::SIGTERM)?;
        self.launched.process.wait()?;
        Ok(())
    }

    fn pid(&self) -> Result<Pid> {
        Ok(Pid::from_raw(i32::try_from(self.launched.process.id())?))
    }
}

/// Binds this thread to a core, or to the only one that the machine has.
pub fn run_on(core: usize) -> Result<()> {
    let core = core.min(cores() - 1);
    bind(core..=core)
}

/// Lets this thread run on the first two cores, as a server and its load do.
pub fn run_on_both() -> Result<()> {
    bind(0..=LOAD_CORE.min(cores() - 1))
}

/// Counted before the first binding: after that, one core is available.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, NonZeroUsize::get))
}

fn bind(mut cores: RangeInclusive<usize>) -> Result<()> {
    let mut set = CpuSet::new();
    cores.try_for_each(|core| set.set(core))?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}
