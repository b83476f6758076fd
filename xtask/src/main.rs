//! The chores of this repository: `cargo xtask --help` lists them.

use anyhow::Result;
use clap::{Parser, Subcommand};

use xtask::run::cargo;
use xtask::{compat, conformance, generate};

/// The chores of this repository
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Write the OpenAPI document and the client from the code
    Generate {
        /// Write nothing; fail with a diff where the checked-in files differ
        #[arg(long)]
        check: bool,
    },
    /// Compare the document with an older one: fail where a change needs a larger version
    Compat {
        /// A revision or a file [default: the merge base with origin/main, or the last commit
        /// that touched the document]
        #[arg(long, value_name = "REV|FILE")]
        against: Option<String>,
    },
    /// Check everything that needs only Rust: format, lints, generated files, docs, tests
    Test,
    /// Run the tests of crashes, faults and floods, and the fuzzing, at full length
    Soak,
    /// Check document and service with other people's tools: linters, Schemathesis, clients
    Conformance,
    /// Everything that CI checks: `test`, `compat`, `conformance`
    Ci,
    /// Measure the service beside other servers and on large stores, and print tables
    Bench {
        /// `cargo xtask bench -- --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// In a workspace of its own.
const AXUM_SQLX_SERVER: &str = "--manifest-path tests/bench/axum-sqlx-server/Cargo.toml";

fn main() -> Result<()> {
    match Cli::parse().chore {
        Chore::Generate { check: false } => generate::write(),
        Chore::Generate { check: true } => generate::check(),
        Chore::Compat { against } => compat::run(against.as_deref()),
        Chore::Test => test(),
        Chore::Soak => soak(),
        Chore::Conformance => conformance::run(),
        Chore::Ci => {
            test()?;
            compat::run(None)?;
            // A machine with Rust and a C compiler alone still checks what it can.
            match conformance::missing() {
                Some(missing) => println!("conformance: skipped, because {missing}"),
                None => conformance::run()?,
            }
            Ok(())
        }
        Chore::Bench { arguments } => bench(&arguments),
    }
}

fn test() -> Result<()> {
    cargo("fmt --all --check", &[])?;
    cargo(&format!("fmt --check {AXUM_SQLX_SERVER}"), &[])?;
    cargo("clippy --workspace --all-targets --quiet -- --deny warnings", &[])?;
    generate::check()?;
    cargo("doc --workspace --no-deps --quiet", &[("RUSTDOCFLAGS", "--deny warnings")])?;
    cargo("test --workspace --quiet", &[])
}

/// One test after the other, so that none takes the processor from another one's load.
fn soak() -> Result<()> {
    let words = "test --release --package plant-store-tests --test e2e -- \
                 hard_to_kill fuzzing --test-threads 1 --nocapture";
    cargo(words, &[("PLANT_STORE_SOAK", "1")])
}

fn bench(arguments: &[String]) -> Result<()> {
    let packages = "--package plant-store-server --package plant-store-bench";
    cargo(&format!("build --release --quiet --bins {packages}"), &[])?;
    let folder = "--target-dir target/axum-sqlx-server";
    cargo(&format!("build --release --quiet --locked {AXUM_SQLX_SERVER} {folder}"), &[])?;
    let bench = "run --release --quiet --package plant-store-bench --bin bench --";
    let words: Vec<_> = bench.split(' ').chain(arguments.iter().map(String::as_str)).collect();
    cargo(&words.join(" "), &[])
}
