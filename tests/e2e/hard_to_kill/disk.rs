//! A server on a simulated disk that fails on command and can lose power: `faulty_disk.c`, a
//! library between the real binary and the kernel.

use plant_store_tests::FAULTY_DISK;
use plant_store_tests::prelude::*;

use crate::database::{STORE, WAL};

/// The name of the store's folder in calls of [`order`] and [`withdraw`].
pub const FOLDER: &str = "folder";

/// The folder beside the store in which the simulated disk keeps its state.
const DISK: &str = "disk";

/// Starts a server on a new store on the simulated disk.
pub fn start() -> Server {
    let folder = TempDir::new().expect("a temporary folder");
    put_on_disk(folder.path());
    Server::starting_in(folder.into()).command(preload).start()
}

/// Puts a folder on the simulated disk: it is used by every process with [`preload`] in that
/// folder.
pub fn put_on_disk(folder: &Path) {
    fs::create_dir(folder.join(DISK)).expect("a folder");
}

/// Starts a server on a store that is on the simulated disk already.
pub fn start_again(stopped: Starting) -> Server {
    stopped.command(preload).start()
}

/// Loads the simulated disk into a process.
pub fn preload(command: &mut Command) {
    command.env("LD_PRELOAD", &*FAULTY_DISK).env("FAULTY_DISK", DISK);
}

/// Orders a fault from the disk, for example `sync-fails`: see `faulty_disk.c`.
pub fn order(folder: &Path, what: &str, file: &str) {
    fs::write(state(folder, what, file), "").expect("a file");
}

/// Ends a fault.
pub fn withdraw(folder: &Path, what: &str, file: &str) {
    fs::remove_file(state(folder, what, file)).expect("the fault was ordered");
}

/// Waits until a call on the file hangs.
pub fn wait_until_it_hangs(folder: &Path, file: &str) {
    wait_until(|| state(folder, "hangs", file).exists(), || format!("{file} does not hang"));
}

/// Simulates a power cut: every write since the last successful sync is lost.
pub fn cut_power(folder: &Path) {
    for file in [STORE, WAL] {
        let synced = state(folder, "synced", file);
        if fs::exists(&synced).expect("the folder can be read") {
            fs::copy(synced, folder.join(file)).expect("a copy of the file");
        } else {
            remove(&folder.join(file));
        }
        remove(&state(folder, "unsynced", file));
    }
    remove(&folder.join("plant-store.db-shm"));
}

/// Returns the path of a file that tells the simulated disk, or the test, about a file of the
/// store.
pub fn state(folder: &Path, what: &str, file: &str) -> PathBuf {
    folder.join(DISK).join(format!("{what}.{file}"))
}

/// Removes a file if there is one.
fn remove(file: &Path) {
    if fs::exists(file).expect("the folder can be read") {
        fs::remove_file(file).expect("the file can be removed");
    }
}
