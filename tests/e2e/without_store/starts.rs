//! Starts: what the server logs and prints, which starts fail, and when a token is issued.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use plant_store_tests::tls::{Authority, KEY, TLS};
use plant_store_tests::{
    Server, binary_in, failure, run, token, wait_until, without_own_variables,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::database::STORE;
use crate::without_store::command_line::refused;

/// Waits for the first record of a log that fulfils a condition, and returns it.
fn record(log: &Path, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let find = || {
        let text = fs::read_to_string(log).unwrap_or_default();
        let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.find(&is_wanted)
    };
    wait_until(|| find().is_some(), || "no such record".to_owned());
    find().expect("the record exists")
}

pub fn record_of(server: &Server, is_wanted: impl Fn(&Value) -> bool) -> Value {
    record(&server.folder().join("log"), is_wanted)
}

#[test]
fn start_logs_the_limits_in_force() {
    let server = Server::starting().with_open_files("-Sn 64").start();
    let limits = record_of(&server, |record| record["max_body"].is_number());
    assert_eq!((&limits["max_body"], &limits["max_creates"]), (&65536.into(), &1024.into()));
    for (name, default) in
        [("body_timeout", "10s"), ("store_timeout", "5s"), ("shutdown_timeout", "10s")]
    {
        assert_eq!(limits[name], default);
    }
    // The hard limit depends on the user who runs the tests.
    assert!(limits["open_files"].as_u64() > Some(64), "{limits}");
}

/// The printed command contains an address that a client on this machine can reach: 127.0.0.1
/// instead of 0.0.0.0.
#[test]
fn server_listens_on_the_given_address() {
    let mut addresses = vec![("127.0.0.2:0", "127.0.0.2"), ("0.0.0.0:0", "127.0.0.1")];
    addresses.push(("localhost:0", "127.0.0.1"));
    // Some machines have no IPv6.
    if TcpListener::bind("[::1]:0").is_ok() {
        addresses.push(("[::]:0", "[::1]"));
    }
    for (address, client) in addresses {
        let server = Server::starting().with(&["--listen", address]).start();
        let address = address.replace("localhost", "127.0.0.1");
        let (ip, _) = address.rsplit_once(':').expect("an address and a port");
        assert_eq!(server.address.to_string().rsplit_once(':').map(|(ip, _)| ip), Some(ip));
        let curl = server.first_request.as_deref().expect("a new store");
        let url = format!("curl http://{client}:{}/plants ", server.address.port());
        assert!(curl.contains(&url), "{curl}");
    }
}

/// Returns a command that runs the binary in a folder, without the capabilities of root. Even if
/// root runs the tests, the permissions of files apply to it.
pub fn unprivileged(folder: &Path) -> Command {
    let command = binary_in(folder);
    if !geteuid().is_root() {
        return command;
    }
    let mut unprivileged = Command::new("setpriv");
    unprivileged.arg("--bounding-set=-all").arg(command.get_program());
    without_own_variables(&mut unprivileged);
    unprivileged.current_dir(folder).env("PLANT_STORE_LISTEN", "127.0.0.1:0");
    unprivileged
}

/// The message names what cannot be used.
#[test]
fn bad_start_exits_1_and_leaves_no_store() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = other.local_addr().expect("an address").to_string();
    let listen = ["serve", "--listen", &address];
    let metrics = ["serve", "--metrics", &address];
    let variable = Some(("PLANT_STORE_LISTEN", address.as_str()));
    for (words, variable, name) in [
        (&listen[..], None, address.as_str()),
        (&metrics, None, &address),
        (&["serve"], variable, &address),
        (&["serve", "--no-create"], None, "plant-store.db"),
        (&["token", "list"], None, "plant-store.db"),
        (&["export"], None, "plant-store.db"),
        (&["export", "--store", "sqlite:/no/x.db"], None, "/no/x.db"),
    ] {
        let (status, stderr) = refused(words, variable);
        assert!(status == Some(1) && stderr.contains(name), "{words:?}: {stderr}");
    }

    let folder = TempDir::new().expect("a temporary folder");
    Authority::new().issue(folder.path());
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("the test owns the file");
    };
    set_mode(&folder.path().join(KEY), 0o000);
    set_mode(folder.path(), 0o555);
    for (flags, name) in [
        (&["--listen", "127.0.0.1:80"][..], "127.0.0.1:80"),
        (&["--metrics", "127.0.0.1:80"], "127.0.0.1:80"),
        (&TLS, KEY),
        (&[], "folder"),
    ] {
        let (status, stderr) = failure(unprivileged(folder.path()).arg("serve").args(flags));
        assert!(status == Some(1) && stderr.contains(name), "{flags:?}: {stderr}");
    }
    set_mode(folder.path(), 0o755);
}

/// Returns the tokens of the store in this folder, as JSON.
fn tokens(folder: &Path) -> String {
    let listed = run(folder, &["token", "list", "--json"]).stdout;
    String::from_utf8(listed).expect("text").trim().to_owned()
}

/// Runs a first start until it ends or listens. Returns `None` if it listens, and otherwise whether
/// it has left a store. Such a store must accept the token that was printed.
pub fn failed_first_start(serve: &mut Command, folder: &Path) -> Option<bool> {
    let out = folder.join("out");
    serve.current_dir(folder).stdout(File::create(&out).expect("a file")).stderr(Stdio::null());
    let mut server = serve.spawn().expect("it starts");
    let printed = || fs::read_to_string(&out).expect("the output");
    let mut has_ended = || server.try_wait().expect("it is a child").is_some();
    let listens = || printed().contains("listening on");
    wait_until(|| has_ended() || listens(), || "it neither ends nor listens".into());
    if listens() {
        server.kill().expect("it is there");
        server.wait().expect("it ends");
        return None;
    }
    // The list is empty if there is no store.
    let tokens = tokens(folder);
    let printed = printed();
    let has_store = token(&printed).is_ok_and(|token| tokens.contains(&token[..8]));
    assert!(has_store || tokens.is_empty(), "{printed}: {tokens}");
    Some(has_store)
}

/// The test tries different limits on open files to make starts fail at different points.
#[test]
fn failed_start_leaves_no_store_without_a_printed_token() {
    let mut stores = 0;
    for files in 6.. {
        let folder = TempDir::new().expect("a temporary folder");
        let mut shell = Command::new("sh");
        without_own_variables(&mut shell);
        let serve = format!("ulimit -n {files}; exec \"$0\" serve --listen 127.0.0.1:0");
        shell.args(["-c", &serve]).arg(binary_in(folder.path()).get_program());
        match failed_first_start(&mut shell, folder.path()) {
            Some(has_store) => stores += usize::from(has_store),
            None => break,
        }
    }
    assert!(stores > 0, "no start failed after it had created the store");
}

/// tokio panics and then hangs if it cannot start its threads. The limit does not apply to root, and
/// counts the processes of a user, so the server runs as a user without others.
#[test]
fn start_with_too_few_threads_fails() {
    if !geteuid().is_root() {
        return;
    }
    for threads in 4..9 {
        let folder = TempDir::new().expect("a temporary folder");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).expect("it is ours");
        let mut command = Command::new("prlimit");
        without_own_variables(&mut command);
        command.arg(format!("--nproc={threads}")).args(["timeout", "-s", "KILL", "60"]);
        command.arg(binary_in(folder.path()).get_program());
        command.args("serve --listen 127.0.0.1:0 --http-threads 4".split(' '));
        let output = command.current_dir(folder.path()).uid(65534).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{threads}: {stderr}");
        assert!(output.stdout.is_empty(), "{threads}: no token is printed");
    }
}

/// Runs a shell command in a folder, in which `$0` is the binary. Returns its exit code.
fn shell(folder: &Path, command: &str) -> Option<i32> {
    let mut shell = Command::new("sh");
    without_own_variables(&mut shell);
    shell.args(["-c", command]).arg(binary_in(folder).get_program()).current_dir(folder);
    shell.output().expect("there is a shell").status.code()
}

/// Nobody would see the token. Other commands fail, too, if their output is lost.
#[test]
fn token_that_cannot_be_printed_is_not_issued() {
    let folder = TempDir::new().expect("a temporary folder");
    let serve = "exec \"$0\" serve --listen 127.0.0.1:0";
    assert_eq!(shell(folder.path(), &format!("{serve} > /dev/full")), Some(1));
    assert!(!folder.path().join(STORE).exists());
    // The address is lost, but the service works without this line.
    let mut process = binary_in(folder.path());
    process.args(["serve", "--first-token", "none"]);
    process.stdout(File::options().write(true).open("/dev/full").expect("a device"));
    process.stderr(File::create(folder.path().join("log")).expect("a file"));
    let mut process = process.spawn().expect("the binary starts");
    record(&folder.path().join("log"), |record| record["msg"] == "listening");
    let id = Pid::from_raw(process.id().try_into().expect("a process id"));
    kill(id, Signal::SIGTERM).expect("the process is there");
    assert!(process.wait().expect("it exits").success());
    assert_eq!(tokens(folder.path()), "[]");
    for redirection in [">&-", "> /dev/null", "> /dev/full"] {
        let create = format!("exec \"$0\" token create ci {redirection}");
        assert_eq!(shell(folder.path(), &create), Some(1), "{redirection}");
        assert_eq!(tokens(folder.path()), "[]", "{redirection}");
    }
    for words in ["openapi", "check", "token list"] {
        let status = shell(folder.path(), &format!("exec \"$0\" {words} > /dev/full"));
        assert_eq!(status, Some(1), "{words}");
    }
}

/// Printing to a pipe that nobody reads blocks forever, but a signal still stops the server. The
/// token was not printed, so no store was created.
#[test]
fn signal_stops_a_start_that_blocks_on_stdout() {
    let folder = TempDir::new().expect("a temporary folder");
    let (reader, mut output) = io::pipe().expect("a pipe");
    fcntl(&output, FcntlArg::F_SETPIPE_SZ(4096)).expect("the pipe is empty");
    output.write_all(&[b' '; 4096]).expect("the pipe has room");
    let log = File::create(folder.path().join("log")).expect("a file");
    let mut serve = binary_in(folder.path());
    serve.args(["serve", "--metrics", "127.0.0.1:0"]).stdout(output).stderr(log);
    let mut process = serve.spawn().expect("it starts");
    record(&folder.path().join("log"), |record| record["msg"] == "serving metrics");
    let id = Pid::from_raw(process.id().try_into().expect("a process id"));
    kill(id, Signal::SIGTERM).expect("the process is there");
    let has_exited = || process.try_wait().expect("the process is a child").is_some();
    wait_until(has_exited, || "the process does not exit".to_owned());
    assert!(!folder.path().join(STORE).exists());
    drop(reader);
}
