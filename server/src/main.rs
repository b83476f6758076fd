//! The binary `plant-store`.

use std::process::ExitCode;

use plant_store_server::PLANT_STORE;

fn main() -> ExitCode {
    groundwork::main(&PLANT_STORE)
}
