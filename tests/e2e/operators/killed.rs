//! Kills a command before each of its system calls that change a file, with strace(1).

use std::collections::{BTreeSet, HashMap};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use plant_store_tests::prelude::*;
use tempfile::NamedTempFile;

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

/// Copies the store of a server again and again, each time in a folder of its own, and kills the
/// copy before one of its calls that change a file. `prepare` removes what the last copy has left,
/// and `check` checks what this one has left. The copy must be whole or no store; then the same
/// command with these further flags makes it.
pub fn kill_copies(
    server: &Server,
    to: &str,
    flags: &str,
    prepare: impl Fn(),
    check: impl Fn(&Path),
) {
    let exported = server.command(&["export"]);
    let from = match server.store().strip_prefix("sqlite:") {
        Some(file) => format!("sqlite:{}", server.folder().join(file).display()),
        None => server.store().to_owned(),
    };
    let command = |folder: &Path, words: &str| {
        let mut command = binary_in(folder);
        command.args(words.trim_end().split(' '));
        command
    };
    let copy = format!("copy --from {from} --to {to} --tokens from");
    let prepare = || {
        prepare();
        TempDir::new().expect("a temporary folder")
    };
    let step = amount(4, 1);
    let first = rand::random_range(0..step);
    let calls = calls_of(&command(prepare().path(), &copy));
    let mut kills = 0;
    for Call { name, count } in &calls {
        if FILLING.contains(&name.as_str()) && count % step != first {
            continue;
        }
        let folder = prepare();
        let folder = folder.path();
        println!("killed before {name}, number {count}");
        let inject = format!("inject={name}:signal=KILL:when={count}");
        let trace = ["-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &inject];
        let status = traced(&command(folder, &copy), &trace);
        kills += usize::from(status.signal() == Some(Signal::SIGKILL as i32));
        check(folder);
        let read = |words: &str| run(&mut command(folder, &format!("{words} --store {to}")));
        if read("export").code != Some(0) {
            run(&mut command(folder, &format!("{copy} {flags}"))).succeeded();
        }
        assert!(read("export").succeeded() == exported, "the copy is incomplete");
        assert!(read("token list").succeeded().contains("\nfirst "));
        assert!(server.command(&["export"]) == exported, "the source is unchanged");
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
    let mut strace = behind(&[&["strace", "-f", "-qq"], flags].concat(), command);
    strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    strace.status().expect("there is strace")
}
