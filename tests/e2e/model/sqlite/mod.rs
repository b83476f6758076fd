//! A server on a SQLite store on the simulated disk, and the faults of that disk.

mod scenes;

use std::os::unix::fs::FileExt;

use plant_store_tests::prelude::*;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::faults::{Call, Fault, File};
use super::world::{Process, World};
use crate::database::{STORE, WAL, WAL_INDEX};
use crate::hard_to_kill::disk;

/// The flags of the server. A create waits longer for the store than a busy machine stalls.
const FLAGS: [&str; 4] = ["--store-timeout", "2s", "--shutdown-timeout", "2s"];

/// What is put at the path of a replaced file.
const OTHER: &[u8] = b"the file of another program";

pub struct Sqlite {
    process: Process,
    reader: Option<Connection>,
    /// The content of the file that was removed or replaced.
    kept: Option<Vec<u8>>,
}

fn name(file: File) -> &'static str {
    match file {
        File::Store => STORE,
        File::Wal => WAL,
        File::Index => WAL_INDEX,
    }
}

impl Sqlite {
    pub fn new() -> Self {
        let prepare = |starting: Starting| starting.with(&FLAGS).command(disk::preload);
        let process = Process::new(disk::start_with(&FLAGS), prepare);
        Self { process, reader: None, kept: None }
    }

    fn path(&self, file: File) -> PathBuf {
        self.process.folder().join(name(file))
    }

    fn away(&self, file: File) -> PathBuf {
        self.process.folder().join(format!("away-{}", name(file)))
    }

    fn marker(&self, what: &str, file: File) -> PathBuf {
        disk::state(self.process.folder(), what, name(file))
    }

    /// Returns the files with which the simulated disk is told of the fault, and their content.
    fn markers(&self, fault: Fault) -> Vec<(PathBuf, String)> {
        let (what, file, content) = match fault {
            Fault::SyncFails(file) => ("sync-fails", Some(file), String::new()),
            Fault::SyncHangs(file) => ("sync-hangs", Some(file), String::new()),
            Fault::WriteHangs(file) => ("write-hangs", Some(file), String::new()),
            Fault::Full(file) => ("write-fails", Some(file), String::new()),
            Fault::ReadsHang => ("read-hangs", None, String::new()),
            Fault::Slow => ("sync-takes", None, "50".to_owned()),
            Fault::KilledAt { call: Call::Write, file, nth } => {
                ("write-kills", Some(file), nth.to_string())
            }
            Fault::KilledAt { call: Call::Sync, file, nth } => {
                ("sync-kills", Some(file), nth.to_string())
            }
            _ => return Vec::new(),
        };
        let files = file.map_or_else(|| vec![File::Store, File::Wal], |file| vec![file]);
        files.into_iter().map(|file| (self.marker(what, file), content.clone())).collect()
    }

    /// Runs `change` while no thread of the server runs, so that `change` happens at one moment.
    fn at_once<T>(&self, change: impl FnOnce() -> T) -> T {
        let Some(server) = &self.process.up else { return change() };
        let tasks = format!("/proc/{}/task", server.pid());
        let is_stopped = || {
            let tasks = fs::read_dir(&tasks).expect("the process is there");
            tasks.flatten().all(|task| {
                let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
                // An ended process cannot be stopped.
                stat.is_empty() || stat.contains(") T ") || stat.contains(") Z ")
            })
        };
        let was_stopped = is_stopped();
        server.signal(Signal::SIGSTOP);
        wait_until(is_stopped, || "the server does not stop".into());
        let changed = change();
        if !was_stopped {
            server.signal(Signal::SIGCONT);
        }
        changed
    }

    /// Keeps the content of a file and then changes the file.
    fn destroy(&mut self, file: File, change: impl FnOnce(&Path)) {
        let path = self.path(file);
        self.kept = Some(self.at_once(|| {
            let content = fs::read(&path).expect("the file exists");
            change(&path);
            content
        }));
    }

    /// Brings the content of the destroyed file back. SQLite builds the index again.
    fn restore(&mut self, file: File) {
        let _ = fs::remove_file(self.path(file));
        let kept = self.kept.take().expect("it was kept");
        if file != File::Index {
            fs::write(self.path(file), kept).expect("a file");
        }
    }

    fn begin_reading(&mut self) -> bool {
        let files = [File::Store, File::Wal, File::Index];
        if self.kept.is_some() || files.iter().any(|file| self.away(*file).exists()) {
            // The reader would change files that are not the store's.
            return false;
        }
        let reader = Connection::open(self.path(File::Store)).expect("the store opens");
        let is_set = reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        let reads = reader.execute_batch("BEGIN; SELECT count(*) FROM plants");
        self.reader = (is_set.is_ok() && reads.is_ok()).then_some(reader);
        self.reader.is_some()
    }
}

impl World for Sqlite {
    fn process(&self) -> &Process {
        &self.process
    }

    fn process_mut(&mut self) -> &mut Process {
        &mut self.process
    }

    fn begin(&mut self, fault: Fault) -> bool {
        if let Fault::Renamed(file) | Fault::Removed(file) | Fault::Replaced(file) = fault
            && (!self.path(file).exists() || self.kept.is_some() || self.away(file).exists())
        {
            return false;
        }
        for (marker, content) in self.markers(fault) {
            fs::write(marker, content).expect("a file");
        }
        match fault {
            Fault::Renamed(file) => {
                fs::rename(self.path(file), self.away(file)).expect("the file exists");
            }
            Fault::Removed(file) => {
                self.destroy(file, |path| fs::remove_file(path).expect("the file exists"));
            }
            Fault::Replaced(file) => {
                let other = self.away(file);
                fs::write(&other, OTHER).expect("a file");
                self.destroy(file, |path| fs::rename(other, path).expect("the file exists"));
            }
            Fault::Reader => return self.begin_reading(),
            _ => return !self.markers(fault).is_empty(),
        }
        true
    }

    fn has_shown(&self, fault: Fault) -> bool {
        match fault {
            Fault::SyncHangs(file) | Fault::WriteHangs(file) => self.marker("hangs", file).exists(),
            _ => true,
        }
    }

    fn heal(&mut self, fault: Fault) {
        for (marker, _) in self.markers(fault) {
            // A disk that has killed the process has removed it already.
            let _ = fs::remove_file(marker);
        }
        match fault {
            Fault::Renamed(file) => {
                fs::rename(self.away(file), self.path(file)).expect("the file exists");
            }
            Fault::Replaced(file) => {
                let found = fs::read(self.path(file)).expect("the file exists");
                assert!(found == OTHER, "the other file at {} was changed", name(file));
                self.restore(file);
            }
            Fault::Removed(file) => self.restore(file),
            Fault::Reader => self.reader = None,
            _ => {}
        }
    }

    fn start_in_vain(&mut self) {
        let mut serve = binary_in(self.process.folder());
        disk::preload(&mut serve);
        serve.arg("serve").args(FLAGS).stderr(Stdio::null());
        // Killed by the fault, or else by the drop.
        drop(Launched::start(&mut serve));
    }

    fn has_failed_sync(&self) -> bool {
        let Some(server) = &self.process.up else { return false };
        let failed = |file| fs::read_to_string(self.marker("failed", file)).unwrap_or_default();
        [File::Store, File::Wal].map(failed).contains(&server.pid().to_string())
    }

    fn cut_power(&mut self, some_survive: bool) {
        if some_survive {
            for file in [File::Store, File::Wal] {
                let [unsynced, synced] = ["unsynced", "synced"].map(|what| self.marker(what, file));
                keep_some(&self.path(file), &unsynced, &synced);
            }
        }
        disk::cut_power(self.process.folder());
    }

    fn command(&self) -> Command {
        let mut command = binary_in(self.process.folder());
        disk::preload(&mut command);
        command.env("READS_NEVER_HANG", "1");
        command
    }
}

/// Lets a random half of the sectors survive that were not synced.
fn keep_some(file: &Path, unsynced: &Path, synced: &Path) {
    const SECTOR: usize = 512;
    let (Ok(list), Ok(content)) = (fs::read_to_string(unsynced), fs::read(file)) else { return };
    let disk = fs::File::options().write(true).create(true).truncate(false).open(synced);
    let disk = disk.expect("the file opens");
    for write in list.lines() {
        let numbers: Vec<usize> =
            write.split(' ').map(|number| number.parse().expect("a number")).collect();
        let end = numbers.iter().sum::<usize>().min(content.len());
        let mut from = numbers[0];
        while from < end {
            let to = end.min((from / SECTOR + 1) * SECTOR);
            if rand::random() {
                disk.write_all_at(&content[from..to], from as u64).expect("a write");
            }
            from = to;
        }
    }
}
