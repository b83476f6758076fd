//! The arithmetic of a fleet in POSTGRESQL.md: this computes its table from the figures beside it.

use super::readmes::text;

const PAGE: &str = "server/POSTGRESQL.md";

/// The creates a second of the columns.
const RATES: [f64; 3] = [10e3, 100e3, 1e6];

/// The rows of a table, without its header: the cells of each.
fn rows(header: &str) -> Vec<Vec<String>> {
    let text = text(PAGE);
    let rows = text.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The figure of the page that this text begins with.
fn figure(name: &str) -> f64 {
    let figures = rows("| figure |");
    let row = figures.iter().find(|row| row[1].starts_with(name)).expect(name);
    row[2].replace(',', "").parse().expect(name)
}

/// What one rate needs.
struct Fleet {
    servers: f64,
    coordinator_cores: f64,
    workers: f64,
    shards: f64,
    /// Gigabytes.
    plants_a_day: f64,
    wal_a_day: f64,
}

impl Fleet {
    fn of(rate: f64) -> Self {
        let busy = figure("share of a core");
        let cores = |microseconds: f64| rate * microseconds / 1e6 / busy;
        let gigabytes_a_day = |bytes: f64| rate * bytes * 86_400.0 / 1e9;
        let plants_a_day = gigabytes_a_day(figure("bytes of a plant"));
        // One more, because one may fail.
        let servers = cores(figure("server, CPU")).ceil() + 1.0;
        let disks = plants_a_day * figure("days") / (1e3 * figure("disk"));
        let (workers, shards, coordinator) = if disks <= 1.0 {
            (0.0, 1.0, figure("PostgreSQL, CPU"))
        } else {
            let of_cores = cores(figure("workers, CPU")) / figure("cores");
            let workers = disks.max(of_cores).ceil();
            // At least two for each worker, so that a new one can take one over.
            let shards = 2_f64.powf((2.0 * workers).log2().ceil());
            (workers, shards, figure("coordinator, CPU"))
        };
        let (coordinator_cores, wal) = (cores(coordinator).ceil(), figure("bytes of WAL"));
        let wal_a_day = gigabytes_a_day(wal);
        Self { servers, coordinator_cores, workers, shards, plants_a_day, wal_a_day }
    }

    /// The one thing that more machines do not help, or else the disks.
    fn breaks_first(&self) -> String {
        if self.coordinator_cores > figure("cores") {
            return "the CPU of the coordinator".into();
        }
        let days = self.workers.max(1.0) * 1e3 * figure("disk") / self.plants_a_day;
        format!("the disks, after {days:.0} days")
    }
}

#[test]
fn table_of_fleets_follows_from_the_figures_of_the_page() {
    let fleets = RATES.map(Fleet::of);
    let row = |name: &str, cell: &dyn Fn(&Fleet) -> String| {
        format!("| {name} | {} |", fleets.each_ref().map(cell).join(" | "))
    };
    let count = |count: f64| format!("{count:.0}");
    let expected = [
        row("servers, of one core each", &|fleet| count(fleet.servers)),
        row("cores of the primary, or of the coordinator", &|fleet| count(fleet.coordinator_cores)),
        row("workers of Citus", &|fleet| count(fleet.workers)),
        row("shards", &|fleet| count(fleet.shards)),
        row("connections to each database", &|fleet| count(2.0 * fleet.servers)),
        row("plants, GB a day", &|fleet| count(fleet.plants_a_day)),
        row("WAL, GB a day", &|fleet| count(fleet.wal_a_day)),
        row("what breaks first", &Fleet::breaks_first),
    ]
    .join("\n");
    assert!(text(PAGE).contains(&expected), "{PAGE} lacks:\n{expected}");
}
