//! `server/RESTORE.md`: a rescue of a store whose server was killed, onto a disk that gets full.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use plant_store_tests::Server;
use plant_store_tests::Starting;

use crate::operators::machine::{Machine, blocks};
use crate::operators::{create, files};

/// The plants of the store; they are more than the full disk takes.
const PLANTS: usize = 50;

/// A limit on file size, in blocks of 512 bytes, stands for a disk that is full.
const FULL_DISK: &str = "trap '' XFSZ; ulimit -f 100\n";

/// A store whose server was killed, so that its plants are in the WAL.
fn killed() -> Starting {
    let server = Server::start();
    create(&server, 0..PLANTS.try_into().expect("it is small"));
    server.stopped_by(Signal::SIGKILL)
}

/// The block of the section that has these words.
fn block_with(words: &str) -> String {
    let mut blocks = blocks("server/RESTORE.md", "Rescue").into_iter();
    blocks.find(|block| block.contains(words)).expect(words)
}

#[test]
fn copy_of_the_files_that_was_cut_by_a_full_disk_is_not_taken_for_a_later_whole_one() {
    let machine = Machine::with(Vec::new());
    let killed = killed();
    let rescue = block_with("/elsewhere/");
    machine.run(killed.folder(), &format!("{FULL_DISK}{rescue}")).expect_err("the disk is full");
    let said = machine.run(killed.folder(), &rescue).expect("the disk has free space again");
    assert!(said.contains(&format!("plants: {PLANTS}")), "{said}");
}

/// The tests need no `sqlite3`: the plants come from another program.
#[test]
fn rescue_of_rows_has_each_row_or_fails() {
    let machine = Machine::with(Vec::new());
    let killed = killed();
    let rescue = block_with("sqlite3 ");
    // As of the real one, its status says nothing, and the last line that fits is whole.
    machine.program("sqlite3", "yes \"$(printf '%0511d' 7)\" | head -n 200\nexit 0");
    machine.run(killed.folder(), &format!("{FULL_DISK}{rescue}")).expect_err("the disk is full");
    machine.program("sqlite3", "plant-store export --store \"sqlite:$2\"\nexit 11");
    let said = machine.run(killed.folder(), &rescue).expect("the disk has free space again");
    let (count, file) = said.trim().split_once(' ').expect("a count and a file");
    assert_eq!(count, (2 * PLANTS).to_string(), "the rows come from both ends");
    let mode = fs::metadata(file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may not read the plants");

    machine.program("sqlite3", "printf '{\"id\":1}\\n{\"id\":'\nexit 11");
    machine.run(killed.folder(), &rescue).expect_err("the last line is cut");
    assert_eq!(files(machine.backup("").as_ref()).len(), 3, "each try has a file of its own");
}
