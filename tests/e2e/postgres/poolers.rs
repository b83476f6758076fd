//! PgBouncer, if there is one on the machine: in transaction mode it is refused, in session mode it
//! is served through.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use plant_store_tests::postgres::{Cluster, Session};
use plant_store_tests::{Folder, Server, plant, wait_until};
use tempfile::TempDir;

use super::scene::{TABLES, refusal, with_plants};

/// A running PgBouncer. Dropping it stops it.
struct Pooler {
    process: Child,
    /// The URL of the database `plants` through it.
    url: String,
    _folder: TempDir,
}

impl Pooler {
    /// In front of that cluster; none if the machine has no PgBouncer. It does not run as root.
    fn start(cluster: &Cluster, mode: &str) -> Option<Self> {
        let folder = TempDir::new().expect("a temporary folder");
        let (port, file) = (free_port(), folder.path().join("pgbouncer.ini"));
        let settings = format!(
            "[databases]\nplants = host=127.0.0.1 port={} user=plants\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = {mode}\n",
            cluster.port()
        );
        fs::write(&file, settings).expect("a file");
        let mut command = Command::new("pgbouncer");
        command.args(["--quiet".as_ref(), file.as_os_str()]).stderr(Stdio::null());
        if geteuid().is_root() {
            let nobody = User::from_name("nobody").ok().flatten().expect("there is such a user");
            let (user, group) = (nobody.uid.as_raw(), nobody.gid.as_raw());
            chown(folder.path(), Some(user), Some(group)).expect("root gives a folder away");
            command.uid(user).gid(group);
        }
        let Ok(process) = command.spawn() else {
            println!("skipped: there is no PgBouncer");
            return None;
        };
        let url = format!("postgres://plants@127.0.0.1:{port}/plants");
        let pooler = Self { process, url, _folder: folder };
        wait_until(|| Session::try_open(&pooler.url).is_ok(), || "no PgBouncer".into());
        Some(pooler)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let process = Pid::from_raw(i32::try_from(self.process.id()).expect("a process id"));
        let _ = kill(process, Signal::SIGKILL);
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}

#[test]
fn pooler_in_transaction_mode_is_refused() {
    let (cluster, url) = with_plants();
    let Some(pooler) = Pooler::start(&cluster, "transaction") else { return };
    let said = refusal(&pooler.url, "serve --listen 127.0.0.1:0", &[]);
    assert!(said.contains("a pooler in transaction mode is in front of the database"), "{said}");
    assert_eq!(cluster.session("plants").value(TABLES), "0", "nothing is created");
    drop(Server::starting_in(Folder::over(&url)).start());
    for command in ["export", "check", "token create ci"] {
        let said = refusal(&pooler.url, command, &[]);
        assert!(said.contains("a pooler in transaction mode"), "{command}: {said}");
    }
}

#[test]
fn pooler_in_session_mode_is_served_through() {
    let (cluster, _) = with_plants();
    let Some(pooler) = Pooler::start(&cluster, "session") else { return };
    let server = Server::starting_in(Folder::over(&pooler.url)).start();
    for id in 1..=10 {
        server.create(&plant(id, "Ficus", None)).plant();
    }
    assert_eq!(server.export().len(), 10);
    assert!(server.command(&["check"]).contains("is sound; plants: 10, tokens: 1"));
}
