//! Kills a command before its system calls that change a file, with strace(1).

use std::os::unix::process::ExitStatusExt;

use plant_store_tests::prelude::*;

use super::absolute;

/// The calls with which a copy changes a file or sends something to a database. A mapped file
/// changes without a call, but the commands map only the WAL index, which SQLite recreates.
const CALLS: [&str; 6] = ["write", "pwrite64", "fsync", "sendto", "unlink", "renameat2"];

/// The calls that only fill a file or a table. A short run tries every fourth one.
const FILLING: [&str; 3] = ["pwrite64", "fsync", "sendto"];

/// Returns a command that is killed before the call of that number, counting from 1 in each thread.
pub fn killed_before(call: &str, number: usize, command: &Command) -> Command {
    println!("killed before {call}, number {number}");
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:signal=KILL:when={number}");
    // With -D the command is our child, and strace is its child.
    let strace = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    behind(&strace, command)
}

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
    let exported = server.run("export").succeeded();
    let from = absolute(server.folder(), server.store());
    let copy = format!("copy --from {from} --to {to} --tokens from");
    let command = |folder: &Path, words: &str| {
        let mut command = binary_in(folder);
        command.args(words.split_terminator(' '));
        command
    };
    let mut kills = 0;
    for call in CALLS {
        let step = if FILLING.contains(&call) { amount(4, 1) } else { 1 };
        for number in (rand::random_range(1..=step)..).step_by(step) {
            prepare();
            let folder = TempDir::new().expect("a temporary folder");
            let folder = folder.path();
            let mut copying = killed_before(call, number, &command(folder, &copy));
            let status = copying.stdout(Stdio::null()).status().expect("there is strace");
            if status.signal() != Some(Signal::SIGKILL as i32) {
                assert_eq!(status.code(), Some(0));
                break;
            }
            kills += 1;
            check(folder);
            let read = |words: &str| run(&mut command(folder, &format!("{words} --store {to}")));
            if read("export").code != Some(0) {
                run(&mut command(folder, &format!("{copy} {flags}"))).succeeded();
            }
            assert!(read("export").succeeded() == exported, "the copy is incomplete");
            assert!(read("token list").succeeded().contains("\nfirst "));
            assert!(server.run("export").succeeded() == exported, "the source is unchanged");
        }
    }
    assert!(kills > 10, "strace killed the command only {kills} times");
}
