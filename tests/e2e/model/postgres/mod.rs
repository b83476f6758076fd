//! Two servers on one database, and the faults of the database and of the network between them. On
//! Citus the database is a coordinator with two workers.

mod scenes;

use std::net::SocketAddr;

use nix::sys::signal::kill;
use plant_store_tests::postgres::{Cluster, Link, Network, Session};
use plant_store_tests::prelude::*;
use plant_store_tests::process::Paused;

use super::faults::Fault;
use super::world::{World, serve};
use crate::postgres::servers::{TERMINATE, cluster_with_database};

pub struct Postgres {
    /// The database that takes writes. The servers reach it through the link until a failover.
    primary: Cluster,
    /// `None` after a failover: the link leads to a server that is down for good.
    link: Option<Link>,
    standby: Option<Cluster>,
    /// The processes of a worker that are paused.
    paused: Vec<Paused>,
    folder: Folder,
    second: Launched,
}

impl Postgres {
    pub fn new() -> Self {
        Self::start(false)
    }

    /// A primary with a synchronous standby.
    pub fn with_standby() -> Self {
        Self::start(true)
    }

    fn start(has_standby: bool) -> Self {
        let (primary, _) = cluster_with_database();
        let standby = has_standby.then(|| primary.standby());
        let link = Link::new(&primary);
        let other_host = standby.as_ref().map(|standby| format!(",127.0.0.1:{}", standby.port()));
        let hosts = format!("127.0.0.1:{}{}", link.port(), other_host.unwrap_or_default());
        let folder = Folder::over(&format!("postgres://plants@{hosts}/plants"));
        let second = serve(&folder, folder.command("serve")).expect("it serves");
        Self { primary, link: Some(link), standby, paused: Vec::new(), folder, second }
    }

    /// Runs statements on the primary, also while it is read-only for others. They do not wait for
    /// a standby, which may be down.
    fn execute(&self, statements: &str) {
        let session = self.primary.session("plants");
        session.execute("SET default_transaction_read_only = off; SET synchronous_commit = local");
        session.execute(statements);
    }

    fn start_primary(&self) {
        if !self.primary.is_up() {
            self.primary.start_again();
            self.wait_for_standby();
        }
    }

    fn wait_for_standby(&self) {
        if self.primary.is_up() && self.is_standby_up() {
            self.primary.wait_for_standby();
        }
    }

    fn is_standby_up(&self) -> bool {
        self.standby.as_ref().is_some_and(Cluster::is_up)
    }

    fn is_linked(&self) -> bool {
        self.link.as_ref().is_some_and(Link::is_up)
    }

    fn worker(&self) -> Option<&Cluster> {
        self.primary.nodes().nth(1)
    }

    /// Changes a setting on the primary, or on a worker of Citus if there is one.
    fn set_fsync(&self, value: &str) {
        self.worker().unwrap_or(&self.primary).set("fsync", value);
    }

    /// Kills the primary, and promotes the standby.
    fn fail_over(&mut self) -> bool {
        if !self.is_standby_up() || !self.is_linked() {
            return false;
        }
        self.primary.stop("immediate");
        self.link = None;
        self.primary = self.standby.take().expect("it is up");
        self.primary.promote();
        true
    }

    fn pause_worker(&mut self) -> bool {
        let Some(worker) = self.worker() else { return false };
        let backends = worker.backends("plants");
        let processes: Vec<_> = std::iter::once(worker.pid()).chain(backends).collect();
        self.paused = processes.into_iter().map(Paused::pause).collect();
        true
    }

    /// Kills a backend, and waits until the database accepts sessions again.
    fn kill_backend(&self) {
        let backends = self.primary.backends("plants");
        let Some(backend) = backends.first() else { return };
        // The backend may end by itself in between.
        let _ = kill(*backend, Signal::SIGKILL);
        let process = Path::new("/proc").join(backend.to_string());
        let url = self.primary.url("postgres");
        let has_recovered = || !process.exists() && Session::try_open(&url).is_ok();
        wait_until(has_recovered, || format!("no recovery:\n{}", self.primary.log()));
    }
}

const FAIL: &str = "CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'no code' USING ERRCODE = 'XX000'; END $$;
    ALTER TABLE plants ADD CONSTRAINT fails CHECK (fail()) NOT VALID";

impl World for Postgres {
    fn folder(&self) -> &Folder {
        &self.folder
    }

    fn token(&self) -> &str {
        self.second.token.as_deref().expect("the store was new")
    }

    fn second(&self) -> Option<SocketAddr> {
        Some(self.second.address)
    }

    fn begin(&mut self, fault: Fault) -> bool {
        match fault {
            Fault::StandbyDown if self.is_standby_up() => {
                self.standby.as_ref().expect("it is up").stop("fast");
            }
            Fault::NetworkReset | Fault::NetworkStalled if self.is_linked() => {
                let is_reset = fault == Fault::NetworkReset;
                let state = if is_reset { Network::Reset } else { Network::Stalled };
                self.link.as_ref().expect("it is up").set(state);
            }
            _ if !self.primary.is_up() => return false,
            Fault::DatabaseStopped => self.primary.stop("fast"),
            Fault::DatabaseKilled => self.primary.stop("immediate"),
            Fault::BackendKilled => self.kill_backend(),
            Fault::Failover => return self.fail_over(),
            Fault::ReadOnly => self.primary.set("default_transaction_read_only", "on"),
            Fault::NoConnections => {
                self.execute("ALTER ROLE plants CONNECTION LIMIT 0");
                self.execute(TERMINATE);
            }
            Fault::NoSync => self.set_fsync("off"),
            Fault::InternalError => self.execute(FAIL),
            Fault::WorkerDown => match self.worker() {
                Some(worker) => worker.stop("immediate"),
                None => return false,
            },
            Fault::WorkerPaused => return self.pause_worker(),
            _ => return false,
        }
        true
    }

    fn heal(&mut self, fault: Fault) {
        match fault {
            Fault::StandbyDown => {
                self.standby.as_ref().expect("it is down").start_again();
                return self.wait_for_standby();
            }
            Fault::NetworkReset | Fault::NetworkStalled => {
                return self.link.as_ref().expect("there was no failover").set(Network::Up);
            }
            // A setting can be changed only while the database is up.
            _ => self.start_primary(),
        }
        match fault {
            Fault::ReadOnly => self.primary.set("default_transaction_read_only", "off"),
            Fault::NoConnections => self.execute("ALTER ROLE plants CONNECTION LIMIT -1"),
            Fault::NoSync => self.set_fsync("on"),
            Fault::InternalError => self.execute("DROP FUNCTION fail CASCADE"),
            Fault::WorkerDown => self.worker().expect("it is down").start_again(),
            Fault::WorkerPaused => self.paused.clear(),
            _ => {}
        }
    }

    /// Kills the database, too. The writes that it did not sync survive.
    fn cut_power(&mut self, _: bool) {
        self.primary.stop("immediate");
        self.start_primary();
    }
}
