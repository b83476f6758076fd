//! A shell that owns the folder and the server of a cluster, and removes both when it ends.
//!
//! It reads its commands from a pipe. The pipe closes when the test process ends, even by SIGKILL.
//! So nothing is left behind by a test that failed, hung or was killed.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use nix::unistd::{Uid, User};

/// The script of the shell. Each order is a line of shell. `$server` is the process id of the
/// running server. The programs of PostgreSQL are those on the `PATH`, or else those of the newest
/// version that Debian has installed, which puts none of them on the `PATH`.
///
/// A killed server leaves its System V shared memory segment behind. The id of the segment is in
/// line 7 of `postmaster.pid`.
const SCRIPT: &str = r#"
folder=$(mktemp -d "$TMPDIR/plant-store-postgres.XXXXXX") && cd "$folder" || exit
exec 2>>log
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
server=
echo "$folder"
while read -r order; do eval "$order"; done
if [ -n "$server" ]; then
    kill -QUIT "$server"
    kill -CONT "$server"
    wait "$server"
fi
if [ -f data/postmaster.pid ]; then
    ipcrm -m "$(awk 'NR == 7 { print $2 }' data/postmaster.pid)"
fi
cd / && rm -rf "$folder"
"#;

/// A running shell. Dropping it stops the server, and waits until the folder is gone.
pub struct Keeper {
    shell: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// The folder with the cluster in `data`, and the output of its programs in `log`.
    pub folder: PathBuf,
}

impl Keeper {
    /// Starts a shell in a new folder. `initdb` and the server refuse to run as root, so root
    /// starts the shell as the user `postgres`, or else as `nobody`.
    pub fn start() -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).current_dir("/").env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TMPDIR", std::env::temp_dir());
        if Uid::effective().is_root() {
            let user = ["postgres", "nobody"].map(|name| User::from_name(name).ok().flatten());
            let user = user.into_iter().flatten().next().expect("there is an unprivileged user");
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        // In a process group of its own: Ctrl-C ends the tests, and the end of the tests ends the
        // server.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().expect("there is a shell");
        let orders = shell.stdin.take();
        let answers = BufReader::new(shell.stdout.take().expect("stdout is piped"));
        let mut keeper = Self { shell, orders, answers, folder: PathBuf::new() };
        keeper.folder = keeper.answer().into();
        keeper
    }

    /// Runs a program, which must succeed.
    pub fn run(&mut self, command: &str) {
        let status = self.ask(&format!("{command} >>log 2>&1 </dev/null; echo $?"));
        assert_eq!(status, "0", "`{command}` failed:\n{}", self.log());
    }

    /// Starts the server in the background, and returns its process id.
    pub fn start_server(&mut self, command: &str) -> String {
        self.ask(&format!("{command} >>log 2>&1 </dev/null & server=$!; echo $server"))
    }

    /// Waits for the end of the server, and returns the exit code that the shell reports.
    pub fn wait_for_server(&mut self) -> String {
        self.ask("wait $server; echo $?; server=")
    }

    /// Returns the output of the programs and the server.
    pub fn log(&self) -> String {
        let log = std::fs::read(self.folder.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    fn ask(&mut self, order: &str) -> String {
        let orders = self.orders.as_mut().expect("the pipe is open until the drop");
        writeln!(orders, "{order}").expect("the shell runs");
        self.answer()
    }

    fn answer(&mut self) -> String {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the answer is text");
        let folder = std::env::temp_dir();
        assert!(!answer.is_empty(), "the user of PostgreSQL cannot write to {}", folder.display());
        answer.trim_end().to_owned()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.shell.wait();
    }
}
