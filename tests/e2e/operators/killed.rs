//! A command that is killed before each system call that changes a file, by strace(1).

use std::path::Path;
use std::process::{Command, Stdio};

use plant_store_tests::{amount, without_own_variables};
use tempfile::TempDir;

/// What changes files and folders, as the binary, its libraries and SQLite do it.
const CALLS: [&str; 17] = [
    "chmod",
    "chown",
    "fallocate",
    "fchmod",
    "fchown",
    "fchownat",
    "fdatasync",
    "fsync",
    "ftruncate",
    "linkat",
    "mkdir",
    "pwrite64",
    "rename",
    "renameat2",
    "rmdir",
    "unlink",
    "unlinkat",
];

/// The calls that only fill a file: a short run tries some of them.
const WRITES: [&str; 2] = ["pwrite64", "fsync"];

/// Runs the command in a folder that `prepare` has made, killed before the first of these calls,
/// and then in another folder, killed before the second one, until it comes to its end. `check`
/// looks at each folder.
pub fn before_each_call(
    prepare: impl Fn() -> TempDir,
    command: impl Fn(&Path) -> Command,
    check: impl Fn(&Path),
) {
    let mut kills = 0;
    for call in CALLS {
        let step = if WRITES.contains(&call) { amount(10, 1) } else { 1 };
        for count in (1..).step_by(step) {
            let folder = prepare();
            if !is_killed(&command(folder.path()), call, count) {
                break;
            }
            kills += 1;
            check(folder.path());
        }
    }
    println!("{kills} kills");
    assert!(kills > 20, "strace kills: {kills}");
}

/// Runs the command, killed before that call of its kind. Returns whether there was such a call.
fn is_killed(command: &Command, call: &str, count: usize) -> bool {
    let mut strace = Command::new("strace");
    without_own_variables(&mut strace);
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
    strace.args(["-e", &format!("inject={call}:signal=KILL:when={count}")]);
    strace.arg(command.get_program()).args(command.get_args());
    strace.current_dir(command.get_current_dir().expect("a folder"));
    strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    !strace.status().expect("there is strace").success()
}
