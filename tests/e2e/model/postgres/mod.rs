//! Two servers on one database, and the faults of the database and of the network between them. On
//! Citus the database is a coordinator with two workers.

mod scenes;

use std::net::SocketAddr;

use nix::sys::signal::kill;
use plant_store_tests::postgres::{Cluster, Link, Network, Session};
use plant_store_tests::prelude::*;

use super::faults::Fault;
use super::world::{Process, World, without_requests};
use crate::postgres::{Paused, create_database};

const FLAGS: [&str; 4] = ["--store-timeout", "3s", "--shutdown-timeout", "3s"];

pub struct Postgres {
    /// The database that takes writes. The servers reach it through the link until a failover.
    primary: Cluster,
    is_primary_up: bool,
    /// `None` after a failover: the link leads to a server that is down for good.
    link: Option<Link>,
    is_linked: bool,
    standby: Option<Cluster>,
    is_standby_up: bool,
    /// The processes of a worker that are paused.
    paused: Vec<Paused>,
    process: Process,
    second: Server,
    /// The folder in which commands run.
    folder: Folder,
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
        let primary = Cluster::start();
        create_database(&primary);
        let standby = has_standby.then(|| primary.standby("s1"));
        let link = Link::new(&primary);
        let other_host = standby.as_ref().map(|standby| format!(",127.0.0.1:{}", standby.port()));
        let hosts = format!("127.0.0.1:{}{}", link.port(), other_host.unwrap_or_default());
        let url = format!("postgres://plants@{hosts}/plants");
        let first = Server::starting_in(Folder::over(&url)).with(&FLAGS).start();
        let second = Starting::on(Folder::over(&url), &first.token).with(&FLAGS).start();
        Self {
            primary,
            is_primary_up: true,
            link: Some(link),
            is_linked: true,
            is_standby_up: has_standby,
            standby,
            paused: Vec::new(),
            process: Process::new(first, |starting| starting.with(&FLAGS)),
            second,
            folder: Folder::over(&url),
        }
    }

    /// Runs statements on the primary, also while it is read-only for others. They do not wait for
    /// a standby, which may be down.
    fn execute(&self, statements: &str) {
        let session = self.primary.session("plants");
        session.execute("SET default_transaction_read_only = off; SET synchronous_commit = local");
        session.execute(statements);
    }

    fn start_primary(&mut self) {
        if !self.is_primary_up {
            self.primary.start_again();
            self.is_primary_up = true;
            self.wait_for_standby();
        }
    }

    /// Waits until the database accepts sessions again, if it recovers from a killed backend.
    fn wait_for_recovery(&self) {
        let url = self.primary.url("postgres");
        let accepts_sessions = || !self.is_primary_up || Session::try_open(&url).is_ok();
        wait_until(accepts_sessions, || format!("no recovery:\n{}", self.primary.log()));
    }

    fn wait_for_standby(&self) {
        if self.is_primary_up && self.is_standby_up {
            self.primary.wait_for_standby("s1");
        }
    }

    fn worker(&self) -> Option<&Cluster> {
        self.primary.nodes().nth(1)
    }

    /// Kills the primary, and promotes the standby.
    fn fail_over(&mut self) -> bool {
        if !self.is_standby_up || !self.is_primary_up || !self.is_linked {
            return false;
        }
        self.primary.kill();
        self.link = None;
        self.primary = self.standby.take().expect("it is up");
        self.is_standby_up = false;
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

    fn kill_backend(&self) {
        let backends = self.primary.backends("plants");
        let Some(backend) = backends.first() else { return };
        // The backend may end by itself in between.
        let _ = kill(*backend, Signal::SIGKILL);
        let process = Path::new("/proc").join(backend.to_string());
        wait_until(|| !process.exists(), || "the backend stays".into());
    }
}

const END_SESSIONS: &str =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plants'";

const FAIL: &str = "CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'no code' USING ERRCODE = 'XX000'; END $$;
    ALTER TABLE plants ADD CONSTRAINT fails CHECK (fail()) NOT VALID";

impl World for Postgres {
    fn process(&self) -> &Process {
        &self.process
    }

    fn process_mut(&mut self) -> &mut Process {
        &mut self.process
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        self.process.up.iter().chain([&self.second]).map(|server| server.address).collect()
    }

    fn probe(&self) -> Box<dyn FnMut() + Send> {
        let url = self.primary.url("plants");
        let mut session = None;
        Box::new(move || {
            let open = session.take().map_or_else(|| Session::try_open(&url), Ok);
            session = open.ok().filter(|open| open.try_rows("SELECT * FROM tokens").is_ok());
        })
    }

    fn begin(&mut self, fault: Fault) -> bool {
        self.wait_for_recovery();
        match fault {
            Fault::StandbyDown if self.is_standby_up => {
                self.standby.as_ref().expect("it is up").stop("fast");
                self.is_standby_up = false;
                return true;
            }
            Fault::NetworkReset | Fault::NetworkClosed | Fault::NetworkStalled
                if self.is_linked =>
            {
                let Some(link) = &self.link else { return false };
                link.set(match fault {
                    Fault::NetworkReset => Network::Reset,
                    Fault::NetworkClosed => Network::Closed,
                    _ => Network::Stalled,
                });
                self.is_linked = false;
                return true;
            }
            _ if !self.is_primary_up => return false,
            _ => {}
        }
        match fault {
            Fault::DatabaseStopped => {
                self.primary.stop("fast");
                self.is_primary_up = false;
            }
            Fault::DatabaseKilled => {
                self.primary.kill();
                self.is_primary_up = false;
            }
            Fault::BackendKilled => self.kill_backend(),
            Fault::SessionsEnded => self.execute(END_SESSIONS),
            Fault::Failover => return self.fail_over(),
            Fault::ReadOnly => self.primary.set("default_transaction_read_only", "on"),
            Fault::NoConnections => {
                self.execute("ALTER ROLE plants CONNECTION LIMIT 0");
                self.execute(END_SESSIONS);
            }
            Fault::NoSync => self.primary.nodes().last().expect("a node").set("fsync", "off"),
            Fault::InternalError => self.execute(FAIL),
            Fault::WorkerDown => match self.worker() {
                Some(worker) => worker.kill(),
                None => return false,
            },
            Fault::WorkerPaused => return self.pause_worker(),
            _ => return false,
        }
        true
    }

    fn heal(&mut self, fault: Fault) {
        self.wait_for_recovery();
        match fault {
            Fault::StandbyDown => {
                self.standby.as_ref().expect("it is down").start_again();
                self.is_standby_up = true;
                self.wait_for_standby();
            }
            Fault::NetworkReset | Fault::NetworkClosed | Fault::NetworkStalled => {
                self.link.as_ref().expect("there was no failover").set(Network::Up);
                self.is_linked = true;
            }
            _ => {}
        }
        if matches!(
            fault,
            Fault::DatabaseStopped
                | Fault::DatabaseKilled
                | Fault::ReadOnly
                | Fault::NoConnections
                | Fault::NoSync
                | Fault::InternalError
        ) {
            // A setting can be changed only while the database is up.
            self.start_primary();
        }
        match fault {
            Fault::ReadOnly => self.primary.set("default_transaction_read_only", "off"),
            Fault::NoConnections => self.execute("ALTER ROLE plants CONNECTION LIMIT -1"),
            Fault::NoSync => self.primary.nodes().last().expect("a node").set("fsync", "on"),
            Fault::InternalError => self.execute("DROP FUNCTION fail CASCADE"),
            Fault::WorkerDown => self.worker().expect("it is down").start_again(),
            Fault::WorkerPaused => self.paused.clear(),
            _ => {}
        }
    }

    /// Kills the database, too. The writes that it did not sync survive.
    fn cut_power(&mut self, _: bool) {
        assert_eq!(self.second.try_wait(), None, "the second server keeps running");
        self.primary.kill();
        self.is_primary_up = false;
        self.start_primary();
    }

    fn command(&self) -> Command {
        self.folder.command()
    }

    fn log(&self) -> String {
        let second = without_requests(self.second.folder());
        format!("{}\nsecond server:\n{second}", self.process.log())
    }
}
