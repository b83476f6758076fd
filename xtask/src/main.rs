//! The command line of the chores. `cargo xtask` lists them.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{bench, checks, compat, conformance, faults, release};

/// The chores of this repository
///
/// .github/CONTRIBUTING.md says which chore to run when, and how long each takes.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check format, contract and lints, and run all tests on SQLite, and those of PostgreSQL
    /// if it is installed
    Test,
    /// Run everything that CI checks: `test`, the tests on PostgreSQL, documentation, packages, and
    /// `conformance` if the machine has its tools
    Ci,
    /// Generate the OpenAPI document and the client from the code
    Generate {
        /// Write nothing, and fail with a diff if the checked-in files are out of date
        #[arg(long)]
        check: bool,
    },
    /// Compare the document with an older one, and fail if the changes need a larger version
    Compat(compat::Flags),
    /// Put faults into a copy, one at a time, and print which test finds each of them
    Faults(faults::Faults),
    /// Check the document and the service with third-party tools: linters, Schemathesis, clients of
    /// other generators
    Conformance(conformance::Parts),
    /// Build the Debian package of a release in `target/release/debian`, and test it
    Release(release::Build),
    /// Benchmark the service and textbook Dropshot, and print a table
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let chore = Cli::parse().chore;
    let done = match chore {
        Chore::Test => checks::test().inspect(|()| println!("all checks have passed")),
        Chore::Ci => checks::ci(),
        Chore::Generate { check: false } => checks::generate(),
        Chore::Generate { check: true } => checks::drift(),
        Chore::Compat(flags) => compat::check(&flags),
        Chore::Faults(faults) => faults::run(&faults),
        Chore::Conformance(parts) => conformance::run(&parts),
        Chore::Release(build) => release::run(&build),
        Chore::Bench(args) => bench::run(&args),
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    eprintln!("xtask: {error:#}");
    ExitCode::FAILURE
}
