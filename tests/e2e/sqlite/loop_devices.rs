//! Real full disks, as loop devices. Only root can create them.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use nix::unistd::geteuid;
use plant_store_tests::{Server, run};
use tempfile::TempDir;

use crate::database::STORE;
use crate::operators::{create, names};

/// An ext4 file system of 16 MiB on a loop device.
struct Disk {
    folder: TempDir,
}

impl Disk {
    /// Mounts a new disk. Returns `None` if this machine does not allow that.
    fn new() -> Option<Self> {
        if !geteuid().is_root() {
            println!("skipped, because only root can mount a disk");
            return None;
        }
        let disk = Self { folder: TempDir::new().expect("a temporary folder") };
        // The path has a `?`, which would start the parameters of a URI.
        fs::create_dir(disk.folder.path().join("disk?")).expect("a folder");
        symlink("disk?", disk.path()).expect("a link");
        let image = disk.folder.path().join("image");
        File::create(&image).and_then(|file| file.set_len(16 << 20)).expect("an image");
        let image = image.display().to_string();
        // With the block size of larger disks, and no blocks reserved for root.
        let is_mounted = succeeds("mkfs.ext4", &["-q", "-b", "4096", "-m", "0", &image])
            && succeeds("mount", &["-o", "loop,errors=remount-ro", &image, &disk.display()]);
        if !is_mounted {
            println!("skipped, because there are no loop devices");
        }
        is_mounted.then_some(disk)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    fn display(&self) -> String {
        self.path().display().to_string()
    }

    /// Fills the disk until only `free` bytes are left. If `free` is 0, not even a new name fits.
    fn fill(&self, free: u64) {
        let file = File::create(self.path().join("fill")).expect("a file");
        while (&file).write_all(&[1; 4096]).is_ok() {}
        let length = file.metadata().expect("a size").len();
        file.set_len(length - free).expect("the file is truncated");
        let name = |number| self.path().join(format!("{number:0200}"));
        let is_full = free > 0 || (0..100_000).any(|number| File::create(name(number)).is_err());
        assert!(is_full, "the disk is full");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        succeeds("umount", &["--lazy", &self.display()]);
    }
}

fn succeeds(program: &str, words: &[&str]) -> bool {
    Command::new(program).args(words).status().is_ok_and(|status| status.success())
}

#[test]
fn copy_onto_a_full_device_leaves_nothing() {
    let Some(disk) = Disk::new() else { return };
    let server = Server::start();
    create(&server, 0..1000);
    let url = format!("sqlite:{}/{STORE}", disk.path().display());
    let copy = ["copy", "--from", server.store(), "--to", &url, "--tokens", "from"];
    for free in [1 << 20, 0] {
        disk.fill(free);
        let before = names(&disk.path(), "");
        let output = run(server.folder(), &copy);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr.contains("disk is full") || stderr.contains("No space left"), "{stderr}");
        assert!(stderr.contains(&url), "{stderr}");
        assert_eq!(names(&disk.path(), ""), before);
    }
}
