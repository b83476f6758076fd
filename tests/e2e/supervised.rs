//! Features for supervisors of the service: `--first-token`, `--no-create`, signals, sd_notify and
//! the document.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use plant_store_tests::{
    EVENT_TIMEOUT, Folder, Launched, Server, Starting, failure, plant, root, run,
};

#[test]
fn openapi_prints_the_published_document_byte_for_byte() {
    let folder = Folder::new();
    let printed = run(folder.path(), &["openapi"]);
    assert!(printed.status.success());
    let published = fs::read(root().join("openapi/plant-store.json")).expect("the document");
    assert!(printed.stdout == published);
}

/// Returns the number of tokens of the store in this folder.
fn tokens(folder: &Folder) -> usize {
    let list = run(folder.path(), &["token", "list"]);
    assert!(list.status.success());
    // The first line is the header.
    String::from_utf8_lossy(&list.stdout).lines().count() - 1
}

#[test]
fn first_token_none_issues_and_prints_no_token() {
    let folder = Folder::new();
    let mut command = folder.command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--first-token", "none"]);
    let mut launched = Launched::start(&mut command).expect("it serves");
    assert_eq!(tokens(&folder), 0);
    let pid = Pid::from_raw(launched.process.id().try_into().expect("a process id"));
    signal::kill(pid, Signal::SIGTERM).expect("the process is there");
    assert_eq!(launched.rest().expect("text"), "");
}

#[test]
fn no_create_starts_only_on_an_existing_store() {
    let folder = Folder::new();
    let words = ["serve", "--listen", "127.0.0.1:0", "--no-create"];
    for _ in 0..2 {
        let (status, stderr) = failure(folder.command().args(words));
        assert_eq!(status, Some(1), "{stderr}");
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
    server.wait_for_log("SIGHUP: there are no TLS files to reload");
    server.create(&plant(1, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
}

fn notification(socket: &UnixDatagram) -> String {
    let mut buffer = [0; 256];
    let length = socket.recv(&mut buffer).expect("the server notifies the supervisor");
    String::from_utf8_lossy(&buffer[..length]).trim_end().to_owned()
}

/// The socket of a supervisor is a path, or, with a leading `@`, in the abstract namespace.
#[test]
fn supervisor_is_notified_of_ready_and_stopping() {
    for mark in ["", "@"] {
        let starting = Server::starting();
        let path = starting.folder().join("notify").display().to_string();
        let address = if mark.is_empty() {
            SocketAddr::from_pathname(&path)
        } else {
            SocketAddr::from_abstract_name(&path)
        };
        let socket = UnixDatagram::bind_addr(&address.expect("an address")).expect("a socket");
        assert_ready_and_stopping(starting, &socket, &format!("{mark}{path}"));
    }
}

fn assert_ready_and_stopping(starting: Starting, socket: &UnixDatagram, name: &str) {
    socket.set_read_timeout(Some(EVENT_TIMEOUT)).expect("a time-out can be set");
    let starting = starting.command(|command| {
        command.env("NOTIFY_SOCKET", name);
    });
    let mut server = starting.start();
    assert_eq!(notification(socket), "READY=1");
    server.signal(Signal::SIGTERM);
    assert_eq!(notification(socket), "STOPPING=1");
    assert!(server.wait().success());
}
