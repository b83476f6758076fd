//! A server on a SQLite store on the simulated disk, and the faults of that disk.

mod scenes;

use std::io::Read;
use std::os::unix::fs::FileExt;

use plant_store_tests::prelude::*;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::faults::{Call, Fault, File};
use super::world::{World, serve};
use crate::database::{STORE, WAL, WAL_INDEX};
use crate::sqlite::disk;

pub struct Sqlite {
    folder: Folder,
    token: String,
    reader: Option<Connection>,
    /// The file that was removed. It stays open, so it keeps what the server writes.
    kept: Option<fs::File>,
}

fn name(file: File) -> &'static str {
    match file {
        File::Store => STORE,
        File::Wal => WAL,
        File::Index => WAL_INDEX,
    }
}

impl Sqlite {
    /// Creates a store.
    pub fn new() -> Self {
        let folder = Folder::from(TempDir::new().expect("a folder"));
        disk::put_on_disk(folder.path());
        let mut command = folder.command("serve");
        disk::preload(&mut command);
        // The drop kills the server.
        let token = serve(&folder, command).expect("it serves").token.take();
        let token = token.expect("the store is new");
        Self { folder, token, reader: None, kept: None }
    }

    fn path(&self, file: File) -> PathBuf {
        self.folder.path().join(name(file))
    }

    /// Returns the file that tells the simulated disk, or this test, about a file of the store.
    fn marker(&self, what: &str, file: File) -> PathBuf {
        disk::state(self.folder.path(), what, name(file))
    }

    /// Returns the file that orders a fault from the simulated disk, and its content.
    fn order(&self, fault: Fault) -> Option<(PathBuf, String)> {
        let order = |call: Call, what: &str, file, content: &str| {
            let call = format!("{call:?}").to_lowercase();
            Some((self.marker(&format!("{call}-{what}"), file), content.to_owned()))
        };
        match fault {
            Fault::Fails(call, file) => order(call, "fails", file, ""),
            Fault::Hangs(call, file) => order(call, "hangs", file, ""),
            Fault::KilledAt { call, file, nth } => order(call, "kills", file, &nth.to_string()),
            Fault::Slow => order(Call::Sync, "takes", File::Wal, "50"),
            _ => None,
        }
    }

    /// Removes a file, and keeps it open.
    fn remove(&mut self, file: File) {
        self.kept = Some(fs::File::open(self.path(file)).expect("the file exists"));
        fs::remove_file(self.path(file)).expect("the file exists");
    }

    /// Brings the removed file back, unless SQLite builds it again, or the server has written it
    /// back.
    fn restore(&mut self, file: File) {
        let mut kept = self.kept.take().expect("it was kept");
        let mut content = Vec::new();
        kept.read_to_end(&mut content).expect("the open file can be read");
        let is_gone = fs::metadata(self.path(file)).map_or(true, |file| file.len() == 0);
        if file != File::Index && is_gone {
            fs::write(self.path(file), content).expect("a file");
        }
    }

    fn begin_reading(&mut self) -> bool {
        let reader = Connection::open(self.path(File::Store)).expect("the store opens");
        let is_set = reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        let reads = reader.execute_batch("BEGIN; SELECT count(*) FROM plants");
        self.reader = (is_set.is_ok() && reads.is_ok()).then_some(reader);
        self.reader.is_some()
    }
}

impl World for Sqlite {
    fn folder(&self) -> &Folder {
        &self.folder
    }

    fn command(&self, words: &str) -> Command {
        let mut command = self.folder.command(words);
        disk::preload(&mut command);
        command
    }

    fn token(&self) -> &str {
        &self.token
    }

    fn begin(&mut self, fault: Fault) -> bool {
        if let Some((order, content)) = self.order(fault) {
            fs::write(order, content).expect("a file");
            return true;
        }
        match fault {
            Fault::Reader => return self.begin_reading(),
            Fault::Removed(file) if self.path(file).exists() => self.remove(file),
            _ => return false,
        }
        true
    }

    fn has_met(&self, fault: Fault) -> bool {
        match fault {
            Fault::Hangs(_, file) => self.marker("hangs", file).exists(),
            Fault::Fails(Call::Sync, file) => self.marker("failed", file).exists(),
            // The disk removes the order when it kills the process.
            Fault::KilledAt { .. } => self.order(fault).is_some_and(|(order, _)| !order.exists()),
            _ => true,
        }
    }

    fn heal(&mut self, fault: Fault) {
        if let Some((order, _)) = self.order(fault) {
            // A disk that has killed the process has removed it already.
            let _ = fs::remove_file(order);
        }
        match fault {
            // A process that was killed has left it.
            Fault::Hangs(_, file) => drop(fs::remove_file(self.marker("hangs", file))),
            Fault::Fails(_, file) => drop(fs::remove_file(self.marker("failed", file))),
            Fault::Removed(file) => self.restore(file),
            Fault::Reader => self.reader = None,
            _ => {}
        }
    }

    fn cut_power(&mut self, some_survive: bool) {
        if some_survive {
            for file in [File::Store, File::Wal] {
                let [unsynced, synced] = ["unsynced", "synced"].map(|what| self.marker(what, file));
                keep_some(&self.path(file), &unsynced, &synced);
            }
        }
        disk::cut_power(self.folder.path());
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
