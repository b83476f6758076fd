//! A server on a SQLite store on the simulated disk, and the faults of that disk.

mod scenes;

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};

use nix::sys::signal::Signal;
use plant_store_tests::{Launched, Server, Starting, binary_in, wait_until};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::faults::{Call, Fault, File};
use super::world::{World, output, without_requests};
use crate::database::{STORE, WAL, WAL_INDEX};
use crate::hard_to_kill::disk;

/// The flags of the server. A create waits longer for the store than a busy machine stalls.
const FLAGS: [&str; 4] = ["--store-timeout", "2s", "--shutdown-timeout", "2s"];

/// What is put at the path of a replaced file.
const OTHER: &[u8] = b"the file of another program";

pub struct Sqlite {
    /// `None` while the server is down.
    server: Option<Server>,
    /// `None` while it is up.
    stopped: Option<Starting>,
    folder: PathBuf,
    token: String,
    reader: Option<Connection>,
    /// The content of files that were removed, replaced or truncated.
    kept: Vec<(File, Vec<u8>)>,
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
        let server = disk::start_with(&FLAGS);
        Self {
            folder: server.folder().to_owned(),
            token: server.token.clone(),
            server: Some(server),
            stopped: None,
            reader: None,
            kept: Vec::new(),
        }
    }

    fn path(&self, file: File) -> PathBuf {
        self.folder.join(name(file))
    }

    fn away(&self, file: File) -> PathBuf {
        self.folder.join(format!("away-{}", name(file)))
    }

    fn marker(&self, what: &str, file: File) -> PathBuf {
        disk::state(&self.folder, what, name(file))
    }

    /// Returns the files with which the simulated disk is told of the fault, and their content.
    fn markers(&self, fault: Fault) -> Vec<(PathBuf, String)> {
        let both = [File::Store, File::Wal];
        match fault {
            Fault::SyncFails(file) => vec![(self.marker("sync-fails", file), String::new())],
            Fault::SyncHangs(file) => vec![(self.marker("sync-hangs", file), String::new())],
            Fault::WriteHangs(file) => vec![(self.marker("write-hangs", file), String::new())],
            Fault::Full(file) => vec![(self.marker("write-fails", file), String::new())],
            Fault::ReadsHang => {
                both.map(|file| (self.marker("read-hangs", file), String::new())).into()
            }
            Fault::Slow => both.map(|file| (self.marker("sync-takes", file), "50".into())).into(),
            Fault::KilledAt { call: Call::Write, file, nth } => {
                vec![(self.marker("write-kills", file), nth.to_string())]
            }
            Fault::KilledAt { call: Call::Sync, file, nth } => {
                vec![(self.marker("sync-kills", file), nth.to_string())]
            }
            _ => Vec::new(),
        }
    }

    /// Runs `change` while no thread of the server runs, so that `change` happens at one moment.
    fn at_once<T>(&self, change: impl FnOnce() -> T) -> T {
        let Some(server) = &self.server else { return change() };
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
        let (kept, path) = (self.path(file), self.path(file));
        let content = self.at_once(|| {
            let content = fs::read(kept).expect("the file exists");
            change(&path);
            content
        });
        self.kept.push((file, content));
    }

    /// Brings the content of the destroyed files back. SQLite builds the index again.
    fn restore(&mut self) {
        for (file, content) in self.kept.drain(..).collect::<Vec<_>>() {
            let path = self.path(file);
            let _ = fs::remove_file(&path);
            if file != File::Index {
                fs::write(path, content).expect("a file");
            }
        }
    }

    fn begin_reading(&mut self) -> bool {
        let files = [File::Store, File::Wal, File::Index];
        if !self.kept.is_empty() || files.iter().any(|file| self.away(*file).exists()) {
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
    fn addresses(&self) -> Vec<SocketAddr> {
        self.server.iter().map(|server| server.address).collect()
    }

    fn first_token(&self) -> &str {
        &self.token
    }

    fn store(&self) -> &'static str {
        "sqlite:plant-store.db"
    }

    /// The service reads its tokens from memory, so only a thread that is late matters.
    fn probe(&self) -> Box<dyn FnMut() + Send> {
        Box::new(|| ())
    }

    fn begin(&mut self, fault: Fault) -> bool {
        if let Fault::Renamed(file)
        | Fault::Removed(file)
        | Fault::Replaced(file)
        | Fault::Truncated(file) = fault
            && (!self.path(file).exists() || !self.kept.is_empty() || self.away(file).exists())
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
            Fault::Truncated(file) => {
                // Both, because the other one may change before the fault is noticed.
                let other = if file == File::Store { File::Wal } else { File::Store };
                let kept = fs::read(self.path(other)).unwrap_or_default();
                self.destroy(file, |path| fs::write(path, "").expect("the file is truncated"));
                self.kept.push((other, kept));
            }
            Fault::Paused => {
                let Some(server) = &self.server else { return false };
                server.signal(Signal::SIGSTOP);
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
                self.restore();
            }
            Fault::Removed(_) | Fault::Truncated(_) => self.restore(),
            Fault::Paused => {
                self.server.iter().for_each(|server| server.signal(Signal::SIGCONT));
            }
            Fault::Reader => self.reader = None,
            _ => {}
        }
    }

    fn start(&mut self) {
        for file in [File::Store, File::Wal] {
            let _ = fs::remove_file(self.marker("failed", file));
        }
        let stopped = self.stopped.take().expect("the server is down");
        self.server = Some(disk::start_again(stopped.with(&FLAGS)));
    }

    fn start_in_vain(&mut self) {
        let mut serve = binary_in(&self.folder);
        disk::preload(&mut serve);
        serve.arg("serve").args(FLAGS).stderr(Stdio::null());
        // Killed by the fault, or else by the drop.
        drop(Launched::start(&mut serve));
    }

    fn stop(&mut self, signal: Signal) {
        self.server.as_ref().expect("the server is up").signal(signal);
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.server.as_mut()?.try_wait()?;
        let (status, stopped) = self.server.take()?.ended();
        self.stopped = Some(stopped);
        Some(status)
    }

    fn is_up(&self) -> bool {
        self.server.is_some()
    }

    fn has_failed_sync(&self) -> bool {
        let Some(server) = &self.server else { return false };
        let failed = |file| fs::read_to_string(self.marker("failed", file)).unwrap_or_default();
        [File::Store, File::Wal].map(failed).contains(&server.pid().to_string())
    }

    fn left_behind(&self) -> Option<&'static str> {
        self.path(File::Wal).exists().then_some(WAL)
    }

    fn cut_power(&mut self, some_survive: bool) {
        if some_survive {
            for file in [File::Store, File::Wal] {
                let [unsynced, synced] = ["unsynced", "synced"].map(|what| self.marker(what, file));
                keep_some(&self.path(file), &unsynced, &synced);
            }
        }
        disk::cut_power(self.stopped.as_ref().expect("the server is down"));
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = binary_in(&self.folder);
        disk::preload(&mut command);
        output(command.env("READS_NEVER_HANG", "1").args(words))
    }

    fn log(&self) -> String {
        without_requests(&fs::read_to_string(self.folder.join("log")).unwrap_or_default())
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
