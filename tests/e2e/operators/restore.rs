//! Runs the commands of `server/RESTORE.md` as they stand, a block at a time. Only the folders and the
//! address of the database are others, and `systemctl` stops and starts a server of the test.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use plant_store_launcher::postgres::programs;
use plant_store_tests::{Server, binary_in};
use tempfile::TempDir;

use crate::without_store::readmes::text;

/// The database, as the page names it.
const DATABASE: &str = "postgres://plants@db.example/plants";

/// Where the commands run.
pub struct Place {
    /// Holds `backup`, and the programs in `bin` and `target/release`.
    root: TempDir,
    /// For the programs of PostgreSQL: where the server is, and who asks.
    variables: Vec<(&'static str, String)>,
}

impl Place {
    /// With these variables in the environment of the commands.
    pub fn with(variables: Vec<(&'static str, String)>) -> Self {
        let root = TempDir::new().expect("a temporary folder");
        let binary = binary_in(root.path()).get_program().to_owned();
        for folder in ["backup", "bin", "target/release"] {
            fs::create_dir_all(root.path().join(folder)).expect("a folder");
        }
        for folder in ["bin", "target/release"] {
            let program = root.path().join(folder).join("plant-store");
            symlink(&binary, program).expect("a link");
        }
        Self { root, variables }
    }

    /// The file of that name in `/backup`.
    pub fn backup(&self, name: &str) -> String {
        self.root.path().join("backup").join(name).display().to_string()
    }

    /// Runs the commands in that folder, each of which must succeed.
    pub fn run(&self, folder: &Path, commands: &str) {
        let root = self.root.path().display();
        let commands = commands
            .replace("/var/lib/plant-store", &folder.display().to_string())
            .replace("/usr/local/bin", &format!("{root}/bin"))
            .replace("target/release", &format!("{root}/target/release"))
            .replace("/backup", &format!("{root}/backup"));
        let paths = [Some(self.root.path().join("bin")), programs()].into_iter().flatten();
        let paths = paths.chain(["/usr/bin", "/bin"].map(Into::into));
        let mut shell = Command::new("sh");
        shell.args(["-eu", "-c", &commands]).current_dir(folder);
        shell.env("PATH", env::join_paths(paths).expect("paths"));
        shell.envs(self.variables.iter().cloned());
        let output = shell.output().expect("there is a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commands}\n{said}");
    }

    /// Runs the block of that section, whose first and last lines stop and start the server.
    pub fn follow(&self, section: &str, server: Server) -> Server {
        let block = block(section).replace(DATABASE, server.store());
        let lines: Vec<_> = block.lines().collect();
        let (last, before) = lines.split_last().expect("a block has lines");
        match (before.first(), *last) {
            (_, "systemctl restart plant-store") => {
                self.run(server.folder(), &before.join("\n"));
                server.stopped_by(Signal::SIGTERM).start()
            }
            (Some(&"systemctl stop plant-store"), "systemctl start plant-store") => {
                let stopped = server.stopped_by(Signal::SIGTERM);
                self.run(stopped.folder(), &before[1..].join("\n"));
                stopped.start()
            }
            (_, "plant-store serve") => {
                let stopped = server.stopped_by(Signal::SIGTERM);
                self.run(stopped.folder(), &before.join("\n"));
                stopped.start()
            }
            _ => panic!("{section} does not stop and start the server: {block}"),
        }
    }
}

/// The commands below that heading of the page.
pub fn block(section: &str) -> String {
    let page = text("server/RESTORE.md");
    let (_, section) = page.split_once(&format!("\n## {section}\n")).expect(section);
    let (_, block) = section.split_once("```sh\n").expect("a block");
    block.split("```").next().unwrap_or_default().to_owned()
}
