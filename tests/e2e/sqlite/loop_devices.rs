//! Real disks that are full, read-only or broken, as loop devices: only root can make them. `check`
//! and `copy` read a store there, and nothing else than the store is written.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use plant_store_tests::{Server, plant, run};
use tempfile::TempDir;

use crate::database::{INDEX, STORE, WAL};
use crate::operators::files;

/// An ext4 file system of 16 MiB on a loop device.
struct Disk {
    folder: TempDir,
}

impl Disk {
    /// None if this machine does not let us make one.
    fn new() -> Option<Self> {
        if !geteuid().is_root() {
            println!("skipped, because only root can mount a disk");
            return None;
        }
        let disk = Self { folder: TempDir::new().expect("a temporary folder") };
        // In the name that SQLite is given, a question mark would begin the parameters.
        fs::create_dir(disk.folder.path().join("disk?")).expect("a folder");
        symlink("disk?", disk.path()).expect("a link");
        let image = disk.folder.path().join("image");
        File::create(&image).and_then(|file| file.set_len(16 << 20)).expect("an image");
        let image = image.display().to_string();
        // The blocks of larger disks, and none kept back for root.
        let is_made = succeeds("mkfs.ext4", &["-q", "-b", "4096", "-m", "0", &image])
            && succeeds("mount", &["-o", "loop,errors=remount-ro", &image, &disk.shown()]);
        if !is_made {
            println!("skipped, because there are no loop devices");
        }
        is_made.then_some(disk)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    fn shown(&self) -> String {
        self.path().display().to_string()
    }

    /// Writes until nothing fits any more: no byte of a file, and no name in the folder.
    fn fill(&self) {
        let mut file = File::create(self.path().join("fill")).expect("a file");
        while file.write_all(&[1; 4096]).is_ok() {}
        let name = |number| self.path().join(format!("{number:0200}"));
        let is_full = (0..100_000).any(|number| File::create(name(number)).is_err());
        assert!(is_full, "there is an end");
    }

    fn make_read_only(&self) {
        assert!(succeeds("mount", &["-o", "remount,ro", &self.shown()]));
    }

    /// As the kernel does after an error of the disk.
    fn break_down(&self) {
        let source = Command::new("findmnt").args(["-no", "SOURCE", &self.shown()]).output();
        let source = String::from_utf8(source.expect("there is findmnt").stdout).expect("text");
        let device = source.trim().trim_start_matches("/dev/");
        fs::write(format!("/sys/fs/ext4/{device}/trigger_fs_error"), "1").expect("an error");
        File::create(self.path().join("after")).expect_err("the disk is read-only");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        succeeds("umount", &["--lazy", &self.shown()]);
    }
}

fn succeeds(program: &str, words: &[&str]) -> bool {
    Command::new(program).args(words).status().is_ok_and(|status| status.success())
}

/// With the WAL of a server that was killed, and without one.
#[test]
fn store_on_a_disk_that_is_full_or_read_only_is_checked_copied_and_keeps_every_plant() {
    for stop in [Signal::SIGTERM, Signal::SIGKILL] {
        let server = Server::start();
        (0..20).for_each(|id| drop(server.create(&plant(id, "Ficus", None)).plant()));
        let exported = server.command(&["export"]);
        let stopped = server.stopped_by(stop);
        let ways: [fn(&Disk); 3] = [Disk::fill, Disk::make_read_only, Disk::break_down];
        for (number, break_disk) in ways.into_iter().enumerate() {
            let is_read_only = number > 0;
            let Some(disk) = Disk::new() else { return };
            let mut store = files(stopped.folder());
            store.retain(|name, _| [STORE, WAL, INDEX].contains(&name.as_str()));
            for (name, bytes) in &store {
                fs::write(disk.path().join(name), bytes).expect("it has room");
            }
            break_disk(&disk);
            let folder = TempDir::new().expect("a temporary folder");
            let url = format!("sqlite:{}/{STORE}", disk.shown());
            for words in [
                &["check", "--store", &url][..],
                &["copy", "--from", &url, "--to", "sqlite:copy.db"],
                &["check", "--store", "sqlite:copy.db"],
                &["backup", "--init", "backups", "--store", &url],
                &["token", "list", "--store", &url],
            ] {
                let output = run(folder.path(), words);
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(0), "{stop} {words:?}: {said}");
            }
            let copy = run(folder.path(), &["export", "--store", "sqlite:copy.db"]).stdout;
            assert_eq!(String::from_utf8_lossy(&copy), exported);
            let write = run(folder.path(), &["token", "revoke", "first", "--store", &url]);
            let said = String::from_utf8_lossy(&write.stderr);
            assert!(!is_read_only || !write.status.success(), "{stop}: {said}");
            assert!(!is_read_only || !said.contains("free space"), "{stop}: {said}");
            let left = run(folder.path(), &["export", "--store", &url]).stdout;
            assert_eq!(String::from_utf8_lossy(&left), exported, "nothing is lost");
        }
    }
}

#[test]
fn restore_onto_a_disk_without_room_is_refused_before_anything_is_made() {
    let Some(disk) = Disk::new() else { return };
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let folder = server.folder().to_owned();
    server.command(&["copy", "--from", server.store(), "--to", "sqlite:backup.db"]);
    fs::copy(folder.join("backup.db"), disk.path().join(STORE)).expect("it has room");
    let mut file = File::create(disk.path().join("fill")).expect("a file");
    file.write_all(&vec![1; 9 << 20]).expect("it has room");
    let before = files(&disk.path());
    let url = format!("sqlite:{}/{STORE}", disk.shown());
    let restore = ["restore", "backup.db", "--store", &url];
    // The store has another plant: there is something to do.
    server.create(&plant(2, "Ficus", None)).plant();
    fs::remove_file(folder.join("backup.db")).expect("a file");
    server.command(&["copy", "--from", server.store(), "--to", "sqlite:backup.db"]);
    let refused = || {
        let output = run(&folder, &restore);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(" bytes are needed"), "{said}");
        assert!(!said.contains("--tokens backup"), "{said}");
    };
    refused();
    assert!(files(&disk.path()) == before);
    disk.fill();
    let before = files(&disk.path());
    refused();
    assert!(files(&disk.path()) == before, "and leaves nothing");
}

#[test]
fn backup_onto_a_full_disk_is_refused_and_the_older_ones_stay() {
    let Some(disk) = Disk::new() else { return };
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let folder = disk.path().join("backups").display().to_string();
    server.command(&["backup", "--init", &folder]);
    server.command(&["backup", &folder]);
    let before = files(folder.as_ref());
    disk.fill();
    let output = run(server.folder(), &["backup", &folder, "--keep", "1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("disk is full") || said.contains("No space left"), "{said}");
    assert!(said.contains(&folder), "{said}");
    assert!(files(folder.as_ref()) == before);
}
