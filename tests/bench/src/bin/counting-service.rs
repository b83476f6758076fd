//! The service with an allocator that counts. When it has stopped, it writes how often it has asked
//! for memory, and for how many bytes.

use std::alloc::System;

use anyhow::Result;
use clap::Parser;
use plant_store_server::command::Cli;
use stats_alloc::{INSTRUMENTED_SYSTEM, Stats, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Result<()> {
    Cli::parse().run()?;
    let Stats { allocations, reallocations, bytes_allocated, .. } = ALLOCATOR.stats();
    eprintln!("{} {bytes_allocated}", allocations + reallocations);
    Ok(())
}
