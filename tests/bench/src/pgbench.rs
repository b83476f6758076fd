//! The load of pgbench, PostgreSQL's own benchmark: each plant is a transaction of its own.

use std::path::PathBuf;
use std::process::Command;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use plant_store_tests::postgres::{TO_INSTALL, programs};

use crate::plants::{NAME, TAG};
use crate::store::scratch;

/// One plant. The ids of all connections together are in order, as those of a sequence.
const SCRIPT: &str = "\
\\set n :n + 1
\\set id :n * :connections + :client_id
INSERT INTO plants (id, name, tag) VALUES (:id, :name, :tag) ON CONFLICT (id) DO NOTHING;
";

pub struct PgBench {
    program: PathBuf,
}

/// What pgbench reports.
pub struct Ran {
    pub creates: f64,
    /// Without the time to connect.
    pub per_second: f64,
    /// The time to connect, which its option `--time` includes.
    pub connected_in: Duration,
}

impl PgBench {
    /// Debian has it beside the real `initdb`, to which a link may lead.
    ///
    /// # Errors
    ///
    /// It is not on this machine. The message says what to install.
    pub fn find() -> Result<Self> {
        let programs = programs().with_context(|| format!("no PostgreSQL: {TO_INSTALL}"))?;
        let initdb = programs.join("initdb").canonicalize()?;
        let program = initdb.with_file_name("pgbench");
        ensure!(program.is_file(), "no {}: {TO_INSTALL}", program.display());
        Ok(Self { program })
    }

    /// Creates plants over that many connections. `amount` is pgbench's option for it. The ids
    /// begin after those of the first `before` plants of each connection.
    pub fn create(
        &self,
        url: &str,
        connections: usize,
        before: usize,
        amount: [&str; 2],
    ) -> Result<Ran> {
        let folder = scratch()?;
        let script = folder.path().join("script");
        std::fs::write(&script, SCRIPT)?;
        let variable = |name, value: &str| ["--define".to_owned(), format!("{name}={value}")];
        let mut pgbench = Command::new(&self.program);
        pgbench.args(["--no-vacuum", "--protocol", "prepared", "--file"]).arg(script);
        pgbench.args(["--client", &connections.to_string()]);
        pgbench.args(["--jobs", &available_parallelism()?.to_string()]);
        pgbench.args(variable("n", &before.to_string()));
        pgbench.args(variable("connections", &connections.to_string()));
        pgbench.args(variable("name", NAME)).args(variable("tag", TAG));
        let output = pgbench.args(amount).arg(url).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let figure = |name: &str| -> Result<f64> {
            let rest = said.lines().find_map(|line| line.strip_prefix(name));
            let figure = rest.and_then(|rest| rest.split([' ', '/']).next()?.parse().ok());
            figure.with_context(|| format!("pgbench does not say `{name}`: {said}"))
        };
        Ok(Ran {
            creates: figure("number of transactions actually processed: ")?,
            per_second: figure("tps = ")?,
            connected_in: Duration::from_secs_f64(figure("initial connection time = ")? / 1e3),
        })
    }
}
