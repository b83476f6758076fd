//! The program `plants`.

use std::process::ExitCode;

fn main() -> ExitCode {
    plant_store_client::cli::main()
}
