//! The binary `plant-store`: it reads the command line, runs the command, and says what went wrong
//! in one line on standard error. Exit status: 0 for success, 1 for a failure, 2 for a command line
//! that cannot be parsed, and for a store that `check` cannot check.

use std::io::{self, Write};
use std::process::ExitCode;

use mimalloc::MiMalloc;
use nix::sys::prctl::set_thp_disable;
use nix::sys::signal::{SigSet, Signal};
use plant_store_server::command::{CannotCheck, Cli, in_words};

// It takes less CPU time for each create than glibc's, and gives memory back after a burst of large
// bodies: 59 MB instead of 1.2 GB, 15 seconds after a thousand of 1 MiB.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // A huge page (prctl(2), PR_SET_THP_DISABLE) is resident as a whole, even if little of it is
    // used: 1,000 connections at work would take 30 MB more, and no create would take less CPU
    // time.
    let _ = set_thp_disable(true);
    // Blocked here, so in every thread: a write past the limit on file size fails with EFBIG,
    // instead of ending the process.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    match Cli::read().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A closed standard error is ignored, because the exit status reports the failure too.
            let _ = writeln!(io::stderr(), "plant-store: {}", in_words(&error));
            ExitCode::from(if error.is::<CannotCheck>() { 2 } else { 1 })
        }
    }
}
