//! Real disks that are full, as loop devices: only root can make them.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use nix::unistd::geteuid;
use plant_store_tests::{Server, plant, run};
use tempfile::TempDir;

use crate::database::STORE;
use crate::operators::{create, files};

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

    /// Writes until only that many bytes are free, and no name fits in the folder.
    fn fill(&self, free: u64) {
        let file = File::create(self.path().join("fill")).expect("a file");
        while (&file).write_all(&[1; 4096]).is_ok() {}
        let length = file.metadata().expect("a size").len();
        file.set_len(length - free).expect("the file becomes shorter");
        let name = |number| self.path().join(format!("{number:0200}"));
        let is_full = free > 0 || (0..100_000).any(|number| File::create(name(number)).is_err());
        assert!(is_full, "there is an end");
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

#[test]
fn restore_onto_a_disk_without_room_changes_nothing() {
    let Some(disk) = Disk::new() else { return };
    let server = Server::start();
    create(&server, 0..1000);
    let folder = server.folder().to_owned();
    server.command(&["copy", "--from", server.store(), "--to", "sqlite:backup.db"]);
    let small = Server::start();
    small.create(&plant(1, "Ficus", None)).plant();
    let url = format!("sqlite:{}/{STORE}", disk.path().display());
    small.command(&["copy", "--from", small.store(), "--to", &url]);
    let exported = small.command(&["export"]);
    disk.fill(1 << 20);
    let output = run(&folder, &["restore", "backup.db", "--store", &url]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("disk is full"), "{said}");
    assert_eq!(small.command(&["export", "--store", &url]), exported);
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
    disk.fill(0);
    let output = run(server.folder(), &["backup", &folder, "--keep", "1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("disk is full") || said.contains("No space left"), "{said}");
    assert!(said.contains(&folder), "{said}");
    assert!(files(folder.as_ref()) == before);
}
