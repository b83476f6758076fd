//! The chores of this repository: `cargo xtask --help` lists them.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xshell::cmd;

use xtask::run::{find_root, shell};
use xtask::{compat, conformance, docs, generate, postgres, release};

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
        /// A revision or a file [default: the merge base with origin/main; where that has the
        /// same document, the last commit with another one]
        #[arg(long, value_name = "REV|FILE")]
        against: Option<String>,
    },
    /// Check everything that needs only Rust, git and a PostgreSQL that it installs where it may:
    /// format, contract, lints, docs, packages, tests
    Test,
    /// Run the tests of crashes, faults and floods, and the fuzzing, at full length
    Soak,
    /// Check document and service with other people's tools: linters, oasdiff, Schemathesis,
    /// clients, a browser
    Conformance {
        /// Only these parts
        #[arg(value_parser = conformance::parts())]
        parts: Vec<String>,
    },
    /// Write the reference page and, beside it, the document: `target/docs`
    Docs,
    /// Build the archive of a release, with both programs for a target: `target/dist`
    Release {
        #[arg(value_parser = release::TARGETS)]
        target: String,
    },
    /// Everything that CI checks: `test`, then `conformance` where its tools can be had
    Ci,
    /// Measure the service beside other servers and on large stores, and print tables
    Bench {
        /// `cargo xtask bench -- --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// In a workspace of its own.
const AXUM_SQLX_SERVER: &str = "tests/bench/axum-sqlx-server/Cargo.toml";

/// The tests of what goes over the wire. They run once more over TLS, through a relay:
/// `tests/src/relay.rs`.
const WIRE: [&str; 13] = [
    "bodies::",
    "client::",
    "credentials::",
    "deadlines::",
    "door::",
    "errors::",
    "framing::",
    "limits::",
    "logs::",
    "members::",
    "properties::",
    "races::",
    "signals::",
];

/// What is left out there: long tests with the same names; and a test that waits until Dropshot
/// notices that clients have left. Over TLS it does not, where the last bytes of a client and its
/// end come in one read, and through the relay they do.
const NOT_OVER_TLS: [&str; 4] =
    ["fuzzing::", "hard_to_kill::", "operators::", "no_token_plant_or_query_reaches_a_log"];

/// What is left out where the store is in PostgreSQL.
const NOT_ON_POSTGRES: [&str; 25] = [
    // No server runs, or none on a store.
    "command_line::",
    "compat::",
    "contract::",
    "manuals::",
    "mutations::",
    "packages::",
    "readmes::",
    "rooms::",
    "fuzzing::in_process::",
    // PostgreSQL's own tests: they have servers of their own.
    "postgres::",
    // The file of a store in SQLite and its log: which files are stores, what is left of them, what
    // a damaged page, a disk that fails or a power cut does to them.
    "stores::",
    "schemas::",
    "damaged_page_is_500_and_the_service_goes_on",
    "operators::check::",
    "operators::hanging_disk::",
    "operators::long_logs::",
    "operators::stale_logs::",
    "operators::swapped_files::",
    "copy_of_a_damaged_store_leaves_nothing",
    "hard_to_kill::checkpoints::",
    "hard_to_kill::damage::",
    "hard_to_kill::failed_syncs::",
    "hard_to_kill::full_disks::",
    "hard_to_kill::read_only::",
    // The metrics of that disk.
    "metrics_tell_the_release_the_disk_and_the_bodies",
];

fn main() -> ExitCode {
    let cli = Cli::parse();
    match find_root().and_then(|_| run(cli.chore)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: Chore) -> Result<()> {
    match chore {
        Chore::Generate { check: false } => generate::write(),
        Chore::Generate { check: true } => generate::check(),
        Chore::Compat { against } => compat::run(against.as_deref()),
        Chore::Test => test(),
        Chore::Soak => soak(),
        Chore::Conformance { parts } => conformance::run(&parts),
        Chore::Docs => docs::run(),
        Chore::Release { target } => release::run(&target),
        Chore::Ci => {
            test()?;
            // A machine with Rust and a C compiler alone still checks what it can.
            match conformance::missing() {
                Some(missing) => println!("conformance: skipped, because {missing}"),
                None => conformance::run(&[])?,
            }
            Ok(())
        }
        Chore::Bench { arguments } => bench(&arguments),
    }
}

/// The quick checks first, so that a change of the contract fails with the one line that names it.
fn test() -> Result<()> {
    let sh = shell()?;
    cmd!(sh, "cargo fmt --all --check").run()?;
    cmd!(sh, "cargo fmt --check --manifest-path {AXUM_SQLX_SERVER}").run()?;
    generate::check()?;
    compat::run(None)?;
    cmd!(sh, "cargo clippy --workspace --all-targets --quiet -- --deny warnings").run()?;
    cmd!(sh, "cargo doc --workspace --no-deps --quiet")
        .env("RUSTDOCFLAGS", "--deny warnings")
        .run()?;
    // Each must build from what a registry would get.
    cmd!(
        sh,
        "cargo package --allow-dirty --quiet --package plant-store-server
            --package plant-store-client"
    )
    .run()?;
    let postgres = postgres::start()?;
    let skipped = skip(if postgres.is_some() { &[] } else { &["postgres::"] });
    if let Some(cluster) = &postgres {
        sh.set_var("PLANT_STORE_TESTS_POSTGRES", cluster.databases().server());
    }
    cmd!(sh, "cargo test --workspace --quiet -- {skipped...}").run()?;
    // All packages again: with other ones cargo would build the dependencies with other features.
    let e2e = || cmd!(sh, "cargo test --workspace --test e2e --quiet --");
    e2e().args(WIRE).args(skip(&NOT_OVER_TLS)).env("PLANT_STORE_TESTS_TLS", "1").run()?;
    if postgres.is_some() {
        e2e().args(skip(&NOT_ON_POSTGRES)).env("PLANT_STORE_TESTS_STORE", "postgres").run()?;
    }
    Ok(())
}

/// The arguments of a test binary that leave out the tests whose names contain one of these.
fn skip<'a>(tests: &[&'a str]) -> Vec<&'a str> {
    tests.iter().flat_map(|test| ["--skip", test]).collect()
}

/// One test after the other, so that none takes the processor from another one's load.
fn soak() -> Result<()> {
    let sh = shell()?;
    let postgres = postgres::is_there()?.then_some("postgres");
    cmd!(
        sh,
        "cargo test --release --package plant-store-tests --test e2e --
            hard_to_kill operators fuzzing {postgres...} --test-threads 1 --nocapture"
    )
    .env("PLANT_STORE_SOAK", "1")
    .run()?;
    Ok(())
}

fn bench(arguments: &[String]) -> Result<()> {
    let sh = shell()?;
    cmd!(
        sh,
        "cargo build --release --quiet --bins
            --package plant-store-server --package plant-store-bench"
    )
    .run()?;
    cmd!(
        sh,
        "cargo build --release --quiet --locked
            --manifest-path {AXUM_SQLX_SERVER} --target-dir target/axum-sqlx-server"
    )
    .run()?;
    cmd!(
        sh,
        "cargo run --release --quiet --package plant-store-bench --bin bench -- {arguments...}"
    )
    .run()?;
    Ok(())
}
