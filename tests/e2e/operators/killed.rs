//! Kills a command before each of its system calls that change a file, with strace(1).

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use nix::sys::signal::Signal;
use plant_store_tests::amount;
use tempfile::{NamedTempFile, TempDir};

/// The system calls that change files and folders on Linux, or send something to a database. A
/// mapped file changes without a call, but the commands map only the WAL index, which SQLite
/// recreates.
const CALLS: &str = "chmod chown copy_file_range creat fallocate fchmod fchmodat fchmodat2 fchown \
    fchownat fdatasync fsetxattr fsync ftruncate futimesat io_uring_enter lchown link linkat \
    lsetxattr mkdir mkdirat mknod mknodat msync open openat openat2 pwrite64 pwritev pwritev2 \
    rename renameat renameat2 rmdir sendfile sendmsg sendto setxattr splice symlink symlinkat \
    sync_file_range truncate unlink unlinkat utime utimensat utimes write writev";

/// The flags with which an open changes a folder or a file.
const CHANGING_OPENS: [&str; 3] = ["O_CREAT", "O_TRUNC", "O_TMPFILE"];

/// The calls that only fill a file or a table. A short run tries every fourth one.
const FILLING: [&str; 3] = ["pwrite64", "fsync", "sendto"];

/// Runs the command once for each of its calls that change a file, and kills it before that call.
/// Each run has a folder of its own, which `prepare` creates and `check` checks after the kill.
pub fn kill_before_each_call(
    prepare: impl Fn() -> TempDir,
    command: impl Fn(&Path) -> Command,
    check: impl Fn(&Path),
) {
    let step = amount(4, 1);
    let first = rand::random_range(0..step);
    let calls = calls_of(&command(prepare().path()));
    let mut kills = 0;
    for Call { name, count } in &calls {
        if FILLING.contains(&name.as_str()) && count % step != first {
            continue;
        }
        let folder = prepare();
        println!("killed before {name}, number {count}");
        let inject = format!("inject={name}:signal=KILL:when={count}");
        let flags = ["-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &inject];
        let status = traced(&command(folder.path()), &flags);
        kills += usize::from(status.signal() == Some(Signal::SIGKILL as i32));
        check(folder.path());
    }
    println!("{kills} kills");
    assert!(kills > 10, "strace killed the command only {kills} times");
}

/// A call that changes a file.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    name: String,
    /// The position among the calls of this name in the same thread, which is how strace counts.
    count: usize,
}

/// Runs the command to completion, and returns its calls that change files.
fn calls_of(command: &Command) -> BTreeSet<Call> {
    let record = NamedTempFile::new().expect("a temporary file");
    let path = record.path().to_str().expect("text");
    // The architecture may lack some of the calls; `?` tells strace to ignore unknown calls.
    let trace = format!("trace=?{}", CALLS.replace(' ', ",?"));
    traced(command, &["-o", path, "-e", &trace]);
    let mut counts = HashMap::new();
    let mut calls = BTreeSet::new();
    // A line is `THREAD NAME(ARGUMENTS`, or reports the end of a call or of the process.
    for line in fs::read_to_string(&record).expect("a record").lines() {
        let (thread, call) = line.split_once(' ').expect("a thread");
        let (name, arguments) = call.trim_start().split_once('(').unwrap_or_default();
        let count = counts.entry((thread.to_owned(), name.to_owned())).or_insert(0);
        *count += 1;
        let is_open = name.starts_with("open");
        let changes = !is_open || CHANGING_OPENS.iter().any(|flag| arguments.contains(flag));
        if CALLS.split(' ').any(|call| call == name) && changes {
            calls.insert(Call { name: name.to_owned(), count: *count });
        }
    }
    calls
}

/// Runs the command under strace, and returns its exit status.
fn traced(command: &Command, flags: &[&str]) -> ExitStatus {
    let mut strace = Command::new("strace");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    strace.args(["-f", "-qq"]).args(flags).arg(command.get_program()).args(command.get_args());
    strace.current_dir(command.get_current_dir().expect("a folder"));
    strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    strace.status().expect("there is strace")
}
