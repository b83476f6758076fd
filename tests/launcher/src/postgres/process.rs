//! Processes as the kernel shows them in /proc: proc(5), `/proc/PID/stat`.

use std::fs;

use nix::unistd::Pid;

/// Whether the process has ended. Its parent may not have waited for it yet.
pub fn has_ended(process: Pid) -> bool {
    matches!(stat(process), None | Some(('Z' | 'X', _)))
}

/// Whether the process was stopped by SIGSTOP.
pub fn is_stopped(process: Pid) -> bool {
    matches!(stat(process), Some(('T', _)))
}

/// The processes whose parent is this one.
pub fn children(parent: Pid) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").expect("this is Linux").flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let processes = processes.map(Pid::from_raw);
    processes.filter(|process| stat(*process).is_some_and(|(_, of)| of == parent)).collect()
}

/// The state and the parent.
fn stat(process: Pid) -> Option<(char, Pid)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in brackets, may hold any character.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, Pid::from_raw(fields.next()?.parse().ok()?)))
}
