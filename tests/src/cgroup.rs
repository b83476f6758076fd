//! The memory of a container: a cgroup of the kernel, whose processes are killed if they take more
//! (cgroups(7)).

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

/// A cgroup with a limit on its memory. Drop it after its processes have ended.
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// A cgroup whose processes together may take so many bytes. There is none if this user may not
    /// create one: only root may, and not in every container.
    #[must_use]
    pub fn of(bytes: u64) -> Option<Self> {
        // Version 1 has a tree for memory, version 2 one tree for all.
        let trees = [("memory", "memory.limit_in_bytes"), ("", "memory.max")];
        trees.into_iter().find_map(|(tree, limit)| {
            let folder = format!("plant-store-tests-{}", process::id());
            let folder = Path::new("/sys/fs/cgroup").join(tree).join(folder);
            fs::create_dir(&folder).ok()?;
            let group = Self(folder);
            // Outside of a tree there is no such file.
            let mut limit = File::options().write(true).open(group.0.join(limit)).ok()?;
            limit.write_all(bytes.to_string().as_bytes()).ok()?;
            group.takes_processes().then_some(group)
        })
    }

    /// Not in every container may a process be moved.
    fn takes_processes(&self) -> bool {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("echo $$ > {}", self.processes().display())]);
        shell.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// A process that writes its id into this file becomes one of the cgroup.
    #[must_use]
    pub fn processes(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // It fails while a process is in it, and then it stays.
        let _ = fs::remove_dir(&self.0);
    }
}
