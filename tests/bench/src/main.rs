//! The benchmark. It measures, in turn in one run: the service, bare hyper, bare Dropshot and axum
//! over the same store, and what one would write with axum and sqlx; as fast as they can, and while
//! plants arrive at fixed rates. Then it measures the service on stores of many plants, and on
//! PostgreSQL beside pgbench. `cargo xtask bench` builds and runs it.
//!
//! Look at the CPU time of a create before its throughput: on a shared machine the first is
//! steady and the second is not. The servers have one core and the load another, except if there
//! is a database, too.

mod arrivals;
mod database;
mod figure;
mod footprint;
mod growth;
mod load;
mod pgbench;
mod plants;
mod postgres;
mod sample;
mod side_by_side;
mod store;
mod target;

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use comfy_table::{Table, presets};
use plant_store_tests::process::allow_many_files;

use crate::sample::Effort;

/// Measure the service, print tables in Markdown, and write figures in SVG
#[derive(Parser)]
struct Cli {
    /// How often everything is measured; the tables show the medians
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The longest time of a round of a case
    #[arg(long, default_value_t = 4)]
    seconds: u32,
    /// How many plants the stores of the part `growth` hold
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000, 10_000_000])]
    plants: Vec<u32>,
    /// Another build of the service, to be measured beside this one
    #[arg(long, value_name = "BINARY")]
    beside: Option<PathBuf>,
    /// The folder for the figures
    #[arg(long, default_value = "tests/bench")]
    figures: PathBuf,
    /// What to measure [default: everything]
    tables: Vec<Part>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// All targets with 64, 256, 1,024 connections and one
    SideBySide,
    /// All targets while 1,000, 10,000 and 30,000 plants a second arrive
    Arrivals,
    /// The service on stores of few and of many plants
    Growth,
    /// The service's memory, and its time to start
    Footprint,
    /// The service on PostgreSQL beside itself on SQLite and beside pgbench, also with 1 and 5 ms
    /// to the database
    Postgres,
}

fn main() -> Result<()> {
    let Cli { rounds, seconds, plants, beside, figures, tables } = Cli::parse();
    let effort = Effort { rounds, time: Duration::from_secs(seconds.into()) };
    let machine = machine()?;
    allow_many_files()?;
    let targets = target::all(beside)?;
    println!("{machine}\n");
    for part in Part::value_variants() {
        if tables.is_empty() || tables.contains(part) {
            target::run_on(target::LOAD_CORE)?;
            let tables = match part {
                Part::SideBySide => vec![side_by_side::table(&targets, effort, &figures)?],
                Part::Arrivals => vec![arrivals::table(&targets, effort)?],
                Part::Growth => vec![growth::table(&targets[0], &plants, effort, &figures)?],
                Part::Footprint => vec![footprint::table(&targets[0], rounds)?],
                Part::Postgres => postgres::tables(&targets[0], rounds)?,
            };
            for table in tables {
                println!("{table}\n");
            }
        }
    }
    Ok(())
}

/// The machine and the day that the figures are from.
fn machine() -> Result<String> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let memory = fs::read_to_string("/proc/meminfo")?;
    let total = memory.split_whitespace().nth(1).and_then(|kib| kib.parse().ok());
    let kib: u64 = total.context("no MemTotal in /proc/meminfo")?;
    let date = chrono::Utc::now().date_naive();
    Ok(format!("{cores} cores, {} GiB of memory, {date}", kib / 1024 / 1024))
}

fn markdown<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    table
}
