//! What a supervisor of the service uses: the file of the first token, `--no-create`, signals,
//! sd_notify, the document.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal;
use nix::unistd::pipe2;
use plant_store_launcher::Launched;
use plant_store_tests::{EVENT_TIMEOUT, Folder, Server, bearer, failure, plant, run};
use xtask::run::root;

use crate::database;

#[test]
fn openapi_prints_the_published_document_byte_for_byte() {
    let folder = Folder::new();
    let printed = run(folder.path(), &["openapi"]);
    assert!(printed.status.success());
    let published = fs::read(root().join("openapi/plant-store.json")).expect("the document");
    assert!(printed.stdout == published);
}

/// How many tokens the store in that folder has.
fn tokens(folder: &Folder) -> usize {
    let list = run(folder.path(), &["token", "list"]);
    assert!(list.status.success());
    // The first line names the columns.
    String::from_utf8_lossy(&list.stdout).lines().count() - 1
}

#[test]
fn first_token_goes_to_a_file_for_its_owner_alone() {
    let starting = Server::starting();
    let file = starting.folder().join("token");
    let server = starting.with(&["--first-token", "token"]).start();
    let text = fs::read_to_string(&file).expect("the file is there");
    let mode = fs::metadata(&file).expect("the file is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let printed = server.first_request.as_deref().expect("a command");
    assert!(printed.contains("Bearer $(cat 'token')"), "{printed}");
    let create = |token: &str| server.create_with(&bearer(token), &plant(1, "Ficus", None));
    create(text.trim_end()).plant();
    assert!(!server.log().contains(text.trim_end()));
}

/// One file is there already, one is in a folder that is not there.
#[test]
fn first_token_file_that_cannot_be_written_is_refused_before_a_store_is_created() {
    for file in ["token", "missing/token"] {
        let folder = Folder::new();
        fs::write(folder.path().join("token"), "mine").expect("a file");
        let words = ["serve", "--listen", "127.0.0.1:0", "--first-token", file];
        let (status, said) = failure(folder.command().args(words));
        assert_eq!(status, Some(1));
        assert!(said.contains(&format!("cannot write the first token to {file}: ")), "{said}");
        assert_eq!(fs::read(folder.path().join("token")).expect("a file"), b"mine");
        assert!(!run(folder.path(), &["token", "list"]).status.success(), "there is no store");

        // The flag is without effect on a store that is there.
        let server = Server::starting_in(folder).start();
        let server = server.stopped_by(Signal::SIGTERM).with(&["--first-token", file]).start();
        server.create(&plant(1, "Ficus", None)).plant();
    }
}

/// Standard output is a pipe that takes the first line and not the second.
#[test]
fn first_token_that_cannot_be_printed_is_revoked() {
    const PIPE: i32 = 4096;
    // Enough for the first line, and for none.
    for free in [100, 10] {
        let folder = Folder::new();
        let (_reader, writer) = pipe2(OFlag::O_NONBLOCK).expect("a pipe");
        fcntl(&writer, FcntlArg::F_SETPIPE_SZ(PIPE)).expect("a small pipe");
        let mut writer = File::from(writer);
        writer.write_all(&vec![b'\n'; PIPE as usize - free]).expect("there is space");
        let mut command = folder.command();
        command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(writer).stderr(Stdio::piped());
        let output = command.spawn().expect("it starts").wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("plant-store: cannot print the first token, so it is revoked: "),
            "{said}"
        );
        assert_eq!(tokens(&folder), 0);
    }
}

#[test]
fn first_token_none_prints_and_issues_none() {
    let folder = Folder::new();
    let mut command = folder.command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--first-token", "none"]);
    let log = folder.path().join("log");
    command.stderr(File::create(&log).expect("a file"));
    let mut launched = Launched::start(&mut command).expect("it serves");
    assert_eq!(tokens(&folder), 0);
    launched.process.kill().expect("the process is there");
    assert_eq!(launched.rest().expect("text"), "");
    let log = fs::read_to_string(log).expect("the log");
    assert!(log.contains("the store has no token: `plant-store token create NAME`"), "{log}");
}

#[test]
fn no_create_starts_on_a_store_that_is_there_and_on_nothing_else() {
    let folder = Folder::new();
    let words = ["serve", "--listen", "127.0.0.1:0", "--no-create"];
    for _ in 0..2 {
        let (status, said) = failure(folder.command().args(words));
        assert_eq!(status, Some(1));
        assert!(said.contains(&format!("there is no plant store at {}", folder.store())), "{said}");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 0);
    }
    let server = Server::starting_in(folder).start();
    let server = server.stopped_by(Signal::SIGTERM).with(&["--no-create"]).start();
    server.create(&plant(1, "Ficus", None)).plant();
}

#[test]
fn sighup_does_not_end_the_process() {
    let mut server = Server::start();
    server.signal(Signal::SIGHUP);
    server.wait_for_log("SIGHUP: there is nothing to read");
    server.create(&plant(1, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
}

/// A server under a supervisor that listens on a socket and wants to hear every 300 ms.
fn supervised(flags: &[&str]) -> (Server, UnixDatagram) {
    let starting = Server::starting();
    let path = starting.folder().join("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(EVENT_TIMEOUT)).expect("a time-out can be set");
    let starting = starting.with(flags).command(|command| {
        command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "300000");
    });
    (starting.start(), socket)
}

fn told(socket: &UnixDatagram) -> String {
    let mut buffer = [0; 256];
    let length = socket.recv(&mut buffer).expect("the supervisor is told");
    String::from_utf8_lossy(&buffer[..length]).trim_end().to_owned()
}

#[test]
fn supervisor_is_told_ready_alive_and_stopping() {
    let (mut server, socket) = supervised(&[]);
    assert_eq!(told(&socket), "READY=1");
    for _ in 0..3 {
        assert_eq!(told(&socket), "WATCHDOG=1");
    }
    server.signal(Signal::SIGTERM);
    while told(&socket) != "STOPPING=1" {}
    assert!(server.wait().success());
}

#[test]
fn watchdog_is_not_fed_while_a_commit_hangs() {
    let (server, socket) = supervised(&["--commit-timeout", "1s"]);
    let lock = database::locked(&server);
    let mut waiting = server.connect();
    waiting.send(&server.post(&plant(1, "Ficus", None)));
    socket.set_read_timeout(Some(Duration::from_secs(1))).expect("a time-out can be set");
    let mut buffer = [0; 256];
    server.wait_until("silence", || socket.recv(&mut buffer).is_err());
    drop(lock);
    // 200, or 503 where the commit has waited for too long.
    let _ = waiting.receive();
    server.wait_until("the next word", || socket.recv(&mut buffer).is_ok());
}
