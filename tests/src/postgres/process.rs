//! The state of processes, as the kernel shows it in `/proc/PID/stat` (proc(5)).

use std::fs;

use nix::unistd::Pid;

/// Whether the process has ended. Its parent may not have waited for it yet.
pub fn has_ended(process: Pid) -> bool {
    stat(process).is_none_or(|stat| matches!(stat.state, 'Z' | 'X'))
}

/// Whether the process was stopped by SIGSTOP.
pub fn is_stopped(process: Pid) -> bool {
    stat(process).is_some_and(|stat| stat.state == 'T')
}

/// Returns the child processes.
pub fn children(parent: Pid) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").expect("this is Linux").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let processes = ids.map(Pid::from_raw);
    processes.filter(|process| stat(*process).is_some_and(|stat| stat.parent == parent)).collect()
}

/// The fields of `/proc/PID/stat` that are used here.
struct Stat {
    state: char,
    parent: Pid,
}

fn stat(process: Pid) -> Option<Stat> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may contain any character.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = Pid::from_raw(fields.next()?.parse().ok()?);
    Some(Stat { state, parent })
}
