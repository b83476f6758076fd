//! Programs that run to their end, and what the kernel says about a process.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::ops::{Deref, DerefMut};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::wait_until;

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code. `None` if a signal killed the program.
    pub code: Option<i32>,
    /// The signal that killed the program.
    pub signal: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Ended {
    /// Asserts the exit code, stdout, and a part of stderr, or that stderr is empty.
    pub fn expect(&self, code: i32, stdout: &str, stderr: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), stdout), "{self:?}");
        let is_expected = self.stderr.contains(stderr);
        assert!(is_expected && self.stderr.is_empty() == stderr.is_empty(), "{stderr:?}: {self:?}");
    }

    /// Asserts that the program succeeded. Returns stdout.
    pub fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// Asserts the exit code of a failure, which prints nothing but one line to stderr. The line
    /// contains this text.
    pub fn failed(&self, code: i32, text: &str) {
        self.expect(code, "", text);
        let is_ours = self.stderr.starts_with("plant-store: ");
        assert!(is_ours && self.stderr.lines().count() == 1, "one line of stderr: {self:?}");
    }
}

/// A running program. Dropping this kills it.
pub struct Process(Child);

impl Process {
    /// Starts a program.
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().expect("the program starts"))
    }

    /// Starts a program without stdin, whose stdout and stderr are pipes.
    pub fn piped(command: &mut Command) -> Self {
        Self::start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Waits until the program ends. A server that listens is killed, so that a test of a start
    /// that must fail does not hang.
    pub fn end(mut self) -> Ended {
        let stderr = self.stderr.take();
        let stderr = thread::spawn(move || stderr.map_or(Ok(String::new()), io::read_to_string));
        let mut stdout = String::new();
        if let Some(pipe) = self.stdout.take() {
            let mut lines = BufReader::new(pipe);
            let mut start = 0;
            while lines.read_line(&mut stdout).expect("text") > 0 {
                if stdout[start..].contains(" listening on ") {
                    self.kill().expect("the process is there");
                }
                start = stdout.len();
            }
        }
        let status = self.wait().expect("the program can be waited for");
        let stderr = stderr.join().expect("no panic").expect("text");
        Ended { code: status.code(), signal: status.signal(), stdout, stderr }
    }
}

impl Deref for Process {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program to its end, without stdin.
pub fn run(command: &mut Command) -> Ended {
    Process::piped(command).end()
}

/// Returns the process id of a child.
pub fn pid(process: &Child) -> Pid {
    Pid::from_raw(process.id().cast_signed())
}

/// Sends a signal to a child.
pub fn send(signal: Signal, process: &Child) {
    kill(pid(process), signal).expect("the process is there");
}

/// Starts a program, sends it a signal after an event, and waits until it ends.
pub fn signalled(command: &mut Command, event: impl FnOnce(), signal: Signal) -> Ended {
    let mut process = Process::piped(command);
    event();
    send(signal, &process);
    let mut has_ended = || process.try_wait().expect("the process can be waited for").is_some();
    wait_until(&mut has_ended, || format!("{signal} does not end the process"));
    process.end()
}

/// Returns a command that runs these words, followed by the words of the given command, in its
/// folder and its environment.
pub fn behind(words: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(words[0]);
    outer.args(&words[1..]).arg(command.get_program()).args(command.get_args());
    in_place_of(command, outer)
}

/// Returns a command that a shell runs. In the script, `"$0" "$@"` are the words of the command.
pub fn in_shell(script: &str, command: &Command) -> Command {
    behind(&["sh", "-c", script], command)
}

/// Returns a command whose stdout is a full device.
pub fn to_full_device(command: &Command) -> Command {
    in_shell("exec \"$0\" \"$@\" > /dev/full", command)
}

/// Returns a command that strace(1) kills before the system call of that number, counting from 1 in
/// each thread.
pub fn killed_before(call: &str, number: usize, command: &Command) -> Command {
    println!("killed before {call}, number {number}");
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:signal=KILL:when={number}");
    // With -D the command is our child, and strace is its child.
    let strace = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    behind(&strace, command)
}

/// Gives a command the folder and the environment of another one.
fn in_place_of(inner: &Command, mut outer: Command) -> Command {
    if let Some(folder) = inner.get_current_dir() {
        outer.current_dir(folder);
    }
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// Runs a command on a terminal with 80 columns. Returns what the terminal shows.
pub fn on_a_terminal(command: &Command) -> String {
    let quoted =
        |word: &OsStr| format!(" '{}'", word.to_str().expect("text").replace('\'', r"'\''"));
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let script = format!("stty cols 80 && exec{}", words.map(quoted).collect::<String>());
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &script, "/dev/null"]);
    run(in_place_of(command, terminal).env("SHELL", "/bin/sh")).stdout
}

/// Returns a field of `/proc/PID/status` (proc(5)), or nothing if the process is gone.
fn status(process: Pid, field: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(value.trim().to_owned())
}

/// Returns the state of a process, such as `T` if it is stopped. That of a process that is gone is
/// `X`.
pub fn state(process: Pid) -> char {
    status(process, "State").and_then(|state| state.chars().next()).unwrap_or('X')
}

/// A process that was stopped by SIGSTOP. It continues when this is dropped.
pub struct Paused(Pid);

impl Paused {
    /// Stops a process, and waits until the kernel has stopped it.
    pub fn pause(process: Pid) -> Self {
        kill(process, Signal::SIGSTOP).expect("the process is running");
        // An ended process cannot be stopped.
        wait_until(|| matches!(state(process), 'T' | 'Z'), || "it does not stop".into());
        Self(process)
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

/// Returns the peak memory of the process so far, in MiB.
pub fn peak_memory_mib(process: Pid) -> f64 {
    let peak = status(process, "VmHWM").expect("the process is there");
    peak.trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
}

/// Returns the number of files that the process has open.
pub fn open_files(process: Pid) -> usize {
    let files = fs::read_dir(format!("/proc/{process}/fd")).expect("the process is there");
    files.count()
}
