//! The service on PostgreSQL, beside the service on SQLite, two servers on one database, and
//! pgbench, which commits each plant on its own. Load, service and database share two cores.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use plant_store_tests::{median, wait_until};

use crate::database::{Cpu, Server};
use crate::load::{Amount, Load};
use crate::markdown;
use crate::pgbench::PgBench;
use crate::plants::Order;
use crate::store::scratch;
use crate::target::{Running, Target, run_on_both};

/// How far the database is, and how large the load.
#[derive(Clone, Copy)]
struct Setup {
    round_trip_ms: u64,
    connections: usize,
}

const SETUPS: [Setup; 5] = [
    Setup { round_trip_ms: 0, connections: 64 },
    Setup { round_trip_ms: 1, connections: 64 },
    Setup { round_trip_ms: 1, connections: 256 },
    Setup { round_trip_ms: 5, connections: 64 },
    Setup { round_trip_ms: 5, connections: 256 },
];

const WARM_UP: Amount = Amount { creates: usize::MAX, time: Duration::from_secs(1) };
const MEASURED: Amount = Amount { creates: usize::MAX, time: Duration::from_secs(4) };

#[derive(Clone, Copy)]
enum Program {
    OnSqlite,
    OnPostgres,
    /// Two servers, with half of the connections each: two batches under way at once.
    TwoOnPostgres,
    PgBench,
}

struct Case {
    program: Program,
    round_trip: Duration,
    connections: usize,
}

/// What was measured. What there is not is NaN.
struct Sample {
    creates_per_second: f64,
    service_us: f64,
    database_us: f64,
    link_us: f64,
}

/// The figures, and what they are relative to each other. None if the machine has no pgbench.
pub fn tables(service: &Target, rounds: usize) -> Result<Vec<Table>> {
    let pgbench = match PgBench::find() {
        Ok(pgbench) => pgbench,
        Err(error) => {
            println!("postgres: skipped, because there is {error}\n");
            return Ok(Vec::new());
        }
    };
    run_on_both()?;
    let bench = Bench { service, pgbench, server: Server::start()? };
    let cases = cases();
    let mut samples: Vec<Vec<Sample>> = cases.iter().map(|_| Vec::new()).collect();
    for round in 1..=rounds {
        for (index, (case, samples)) in cases.iter().zip(&mut samples).enumerate() {
            let name = case.name();
            eprintln!("round {round} of {rounds}, {} of {}: {name}", index + 1, cases.len());
            samples.push(bench.measure(case).context(name)?);
        }
    }
    let medians: Vec<_> = samples.iter().map(|samples| Sample::median(samples)).collect();
    Ok(vec![figures(&cases, &medians), ratios(&medians)])
}

/// SQLite is first. After it, of each setup, one server, two, and pgbench.
fn cases() -> Vec<Case> {
    let case = |program, setup: Setup| {
        let round_trip = Duration::from_millis(setup.round_trip_ms);
        Case { program, round_trip, connections: setup.connections }
    };
    let mut cases = vec![case(Program::OnSqlite, SETUPS[0])];
    for setup in SETUPS {
        let programs = [Program::OnPostgres, Program::TwoOnPostgres, Program::PgBench];
        cases.extend(programs.map(|program| case(program, setup)));
    }
    cases
}

struct Bench<'a> {
    service: &'a Target,
    pgbench: PgBench,
    server: Server,
}

impl Bench<'_> {
    fn measure(&self, case: &Case) -> Result<Sample> {
        const DATABASE: &str = "plants";
        let databases = self.server.cluster.databases();
        databases.create(DATABASE);
        // Each begins just after a checkpoint: the first change of a page after one is larger.
        databases.session(DATABASE).execute("CHECKPOINT");
        let url = self.server.url(DATABASE, case.round_trip);
        let sample = match case.program {
            Program::OnSqlite => self.service("sqlite:plant-store.db", 1, case.connections),
            Program::OnPostgres => self.service(&url, 1, case.connections),
            Program::TwoOnPostgres => self.service(&url, 2, case.connections),
            Program::PgBench => self.pgbench(DATABASE, &url, case.connections),
        };
        databases.remove(DATABASE);
        sample
    }

    fn service(&self, url: &str, servers: usize, connections: usize) -> Result<Sample> {
        let folder = scratch()?;
        let start = |_| self.service.start_beside(folder.path(), url);
        let running = (0..servers).map(start).collect::<Result<Vec<_>>>()?;
        let services_cpu = || running.iter().map(Running::cpu).sum::<Result<Duration>>();
        let mut load = Load::connect(&running, connections, Order::Ascending, 0)?;
        load.create(WARM_UP)?;
        let services_before = services_cpu()?;
        let before = self.server.cpu()?;
        let run = load.create(MEASURED)?;
        let services = services_cpu()?.saturating_sub(services_before);
        let database = self.server.cpu()?.less(before);
        let creates = f64::from(u32::try_from(run.latencies.len())?);
        Ok(Sample {
            creates_per_second: creates / run.elapsed.as_secs_f64(),
            service_us: microseconds(services) / creates,
            ..Sample::of(database, creates)
        })
    }

    /// The CPU time of the database is the difference between a long run and one of a plant a
    /// connection, so that it is that of creates alone, without that of connecting.
    fn pgbench(&self, database: &str, url: &str, connections: usize) -> Result<Sample> {
        // It makes the tables.
        let folder = scratch()?;
        drop(self.service.start_beside(folder.path(), url)?);
        let start = self.cpu_without_sessions(database)?;
        let one_each = self.pgbench.create(url, connections, 0, ["--transactions", "1"])?;
        let before = self.cpu_without_sessions(database)?;
        let seconds = (MEASURED.time + one_each.connected_in).as_secs_f64().ceil().to_string();
        let run = self.pgbench.create(url, connections, 1, ["--time", &seconds])?;
        let after = self.cpu_without_sessions(database)?;
        let plants = self.server.cluster.session(database).value("SELECT count(*) FROM plants");
        let sent = one_each.creates + run.creates;
        ensure!(plants.parse() == Ok(sent), "of {sent} plants {plants} are there");
        let cpu = after.less(before).less(before.less(start));
        Ok(Sample {
            creates_per_second: run.per_second,
            ..Sample::of(cpu, run.creates - one_each.creates)
        })
    }

    /// The CPU times, when the sessions have ended.
    fn cpu_without_sessions(&self, database: &str) -> Result<Cpu> {
        let databases = self.server.cluster.databases();
        let have_ended = || databases.backends(database).is_empty();
        wait_until(have_ended, || "pgbench has ended, and its sessions have not".into());
        self.server.cpu()
    }
}

impl Case {
    fn name(&self) -> &'static str {
        match self.program {
            Program::OnSqlite => "the service on SQLite",
            Program::OnPostgres => "the service on PostgreSQL",
            Program::TwoOnPostgres => "two servers on PostgreSQL",
            Program::PgBench => "pgbench, a commit a plant",
        }
    }
}

impl Sample {
    /// Of the database and the link alone.
    fn of(cpu: Cpu, creates: f64) -> Self {
        Self {
            creates_per_second: f64::NAN,
            service_us: f64::NAN,
            database_us: microseconds(cpu.database) / creates,
            link_us: microseconds(cpu.link) / creates,
        }
    }

    fn median(samples: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> f64| median(samples.iter().map(figure));
        Self {
            creates_per_second: of(|sample| sample.creates_per_second),
            service_us: of(|sample| sample.service_us),
            database_us: of(|sample| sample.database_us),
            link_us: of(|sample| sample.link_us),
        }
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn figures(cases: &[Case], samples: &[Sample]) -> Table {
    let mut table = markdown([
        "round trip ms",
        "connections",
        "target",
        "creates/s",
        "service CPU µs/create",
        "database CPU µs/create",
        "link CPU µs/create",
    ]);
    for (case, sample) in cases.iter().zip(samples) {
        let has_database = !matches!(case.program, Program::OnSqlite);
        let has_link = has_database && !case.round_trip.is_zero();
        let figure =
            |is_there, figure: f64| if is_there { format!("{figure:.1}") } else { String::new() };
        table.add_row([
            case.round_trip.as_millis().to_string(),
            case.connections.to_string(),
            case.name().to_owned(),
            format!("{:.0}", sample.creates_per_second),
            figure(!sample.service_us.is_nan(), sample.service_us),
            figure(has_database, sample.database_us),
            figure(has_link, sample.link_us),
        ]);
    }
    table
}

/// What the service on PostgreSQL is relative to the others.
fn ratios(samples: &[Sample]) -> Table {
    let mut table = markdown(["the service on PostgreSQL", "aim", "measured"]);
    let mut add = |what: String, aim: &str, ratio: f64| {
        table.add_row([what, aim.to_owned(), format!("{ratio:.2} ×")]);
    };
    let (sqlite, others) = samples.split_first().expect("SQLite is first");
    for (setup, samples) in SETUPS.iter().zip(others.chunks(3)) {
        let [service, two, pgbench] = samples else { unreachable!("three of each setup") };
        let Setup { round_trip_ms, connections } = setup;
        let aim = match round_trip_ms {
            0 => {
                let of_sqlite = service.creates_per_second / sqlite.creates_per_second;
                let cpu = service.service_us / sqlite.service_us;
                let database = service.database_us / pgbench.database_us;
                add("creates/s, of SQLite's".into(), "at least 0.65", of_sqlite);
                add("CPU of the service, of SQLite's".into(), "at most 1.15", cpu);
                add("CPU of the database, of pgbench's".into(), "at most 0.17", database);
                "at least 1.5"
            }
            1 => "at least 2",
            _ => "",
        };
        let of_pgbench = service.creates_per_second / pgbench.creates_per_second;
        let of_two = service.creates_per_second / two.creates_per_second;
        let setup = format!("{round_trip_ms} ms, {connections} connections");
        add(format!("creates/s, of pgbench's, {setup}"), aim, of_pgbench);
        add(format!("creates/s, of two servers', {setup}"), "", of_two);
    }
    table
}
