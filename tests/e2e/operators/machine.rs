//! Runs the blocks of the operators' pages as they stand. Only the folders and the address of the
//! database are others; `systemctl` kills a server of the test, so that its WAL stays, and `date`
//! says another minute at each call.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use plant_store_tests::postgres::programs;
use plant_store_tests::{Server, binary_in, run};
use tempfile::TempDir;

use super::files;
use crate::without_store::readmes::text;

/// The database, as the page names it.
const DATABASE: &str = "postgres://plants@$PGHOST/plants";

/// The machine of an operator: folders and programs of their own for the commands of a page.
pub struct Machine {
    /// Holds `backup`, and the programs in `bin` and `target/release`.
    root: TempDir,
    /// For the programs of PostgreSQL: where the server is, and who asks.
    variables: Vec<(&'static str, String)>,
}

impl Machine {
    /// With these variables in the environment of the commands.
    pub fn with(variables: Vec<(&'static str, String)>) -> Self {
        let machine = Self { root: TempDir::new().expect("a temporary folder"), variables };
        for folder in ["backup", "bin", "target/release"] {
            fs::create_dir_all(machine.root.path().join(folder)).expect("a folder");
        }
        let binary = binary_in(machine.root.path()).get_program().display().to_string();
        for (path, release) in [("", "old"), ("../target/release/", "new")] {
            let script = format!("# the {release} release\nexec '{binary}' \"$@\"");
            machine.program(&format!("{path}plant-store"), &script);
        }
        let calls = machine.root.path().join("calls").display().to_string();
        let later = format!("/bin/date -d \"$(wc -l < '{calls}') minutes\"");
        machine.program("date", &format!("echo >> '{calls}'\nexec {later} \"$@\""));
        machine
    }

    /// A program of that name for the commands.
    pub fn program(&self, name: &str, script: &str) {
        let path = self.programs().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a program");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    /// Stands for `/usr/local/bin`.
    pub fn programs(&self) -> PathBuf {
        self.root.path().join("bin")
    }

    /// The file of that name in `/var/backups/plant-store`.
    pub fn backup(&self, name: &str) -> String {
        self.root.path().join("backup").join(name).display().to_string()
    }

    /// Runs the commands in that folder. Returns their standard output, or fails with what they
    /// said if one of them fails.
    pub fn run(&self, folder: &Path, commands: &str) -> Result<String, String> {
        let root = self.root.path().display();
        let commands = commands
            .replace("/var/lib/plant-store", &folder.display().to_string())
            .replace("/usr/local/bin", &format!("{root}/bin"))
            .replace("target/release", &format!("{root}/target/release"))
            .replace("/elsewhere", &format!("{root}/backup"))
            .replace("/var/backups/plant-store", &format!("{root}/backup"));
        let paths = [Some(self.programs()), programs(), Some("/usr/bin".into())];
        let paths = env::join_paths(paths.into_iter().flatten()).expect("paths");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &commands]).current_dir(folder).env("PATH", paths);
        let output = shell.envs(self.variables.iter().cloned()).output().expect("a shell");
        if output.status.success() {
            Ok(String::from_utf8(output.stdout).expect("text"))
        } else {
            Err(format!("{commands}\n{}", String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// Makes `systemctl` kill that server, so that its WAL stays.
    pub fn stops(&self, server: &Server) {
        let pid = server.pid();
        let wait = format!("until grep -q ') Z ' /proc/{pid}/stat; do sleep 0.01; done");
        self.program("systemctl", &format!("kill -KILL {pid}; {wait}"));
    }

    /// Runs that block of the page: after a crash behind each of its lines, and then twice. The
    /// stores that were there are there afterwards. Returns a server on the store if the block
    /// stops one.
    pub fn follow(&self, block: &str, server: Server) -> Server {
        let folder = server.folder().to_owned();
        let block = block.replace(DATABASE, server.store());
        self.stops(&server);
        let before = self.stores(&folder);
        let lines: Vec<_> = block.lines().collect();
        for end in 2..lines.len() - 1 {
            let _ = self.run(&folder, &(lines[..end].join("\n") + "\n)"));
        }
        let twice = format!("set -e\n{block}{block}");
        self.run(&folder, &twice).unwrap_or_else(|said| panic!("{said}"));
        assert!(self.stores(&folder).is_superset(&before), "a store is lost: {block}");
        if block.contains("systemctl") { server.ended().1.start() } else { server }
    }

    /// What is in each store below that folder and in `/var/backups/plant-store`.
    fn stores(&self, folder: &Path) -> BTreeSet<Vec<u8>> {
        let below = fs::read_dir(folder).expect("the folder is there");
        let below = below.map(|entry| entry.expect("an entry").path());
        let folders =
            below.filter(|path| path.is_dir()).chain([folder.into(), self.backup("").into()]);
        let stores = folders.flat_map(|folder| {
            let names =
                files(&folder).into_keys().filter(|name| name.split('.').next_back() == Some("db"));
            names.map(move |name| format!("sqlite:{}", folder.join(name).display()))
        });
        stores.map(|store| run(folder, &["export", "--store", &store]).stdout).collect()
    }
}

/// The first block below that heading of `server/RESTORE.md`.
pub fn block(section: &str) -> String {
    blocks("server/RESTORE.md", section).remove(0)
}

/// The blocks between that heading of the page and the next one of its kind.
pub fn blocks(page: &str, section: &str) -> Vec<String> {
    let page = text(page);
    let (_, below) = page.split_once(&format!("\n## {section}\n")).expect(section);
    let section = below.split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}
