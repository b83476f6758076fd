//! A machine that is paused, or loses its power, sends nothing more, and its connections stay open.
//! The transactions that it had begun must not make the others wait for long.

use std::fs;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::postgres::Cluster;
use plant_store_tests::{Connection, Folder, Server, Starting, plant, wait_until};

use super::scene::{as_owner, create_database, wait_for_backend, wait_until_blocked_by};
use crate::metrics::{metrics_address, scrape, series};

/// Pauses the process, and lets it go on when this is dropped.
pub struct Paused(Pid);

impl Paused {
    pub fn pause(process: Pid) -> Self {
        kill(process, Signal::SIGSTOP).expect("the process is there");
        let stat = || fs::read_to_string(format!("/proc/{process}/stat")).expect("it is there");
        wait_until(|| stat().contains(") T "), || "it does not stop".into());
        Self(process)
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

#[test]
fn server_that_is_paused_in_a_transaction_does_not_keep_its_plants_from_another_server() {
    let cluster = Cluster::start();
    create_database(&cluster);
    let url = as_owner(&cluster.url("plants"));
    let flags = [
        "--store-timeout",
        "50s",
        "--max-body",
        "100MB",
        "--max-bodies",
        "200MB",
        "--metrics",
        "127.0.0.1:0",
    ];
    let paused = Server::starting_in(Folder::over(&url)).with(&flags).start();
    let other = Starting::on(Folder::over(&url), &paused.token).start();
    other.create(&plant(1, "Ficus", None)).plant();

    let [first, second] = [(); 2].map(|()| cluster.session("plants"));
    first.execute("BEGIN; SELECT 1 FROM plants WHERE id = 1 FOR UPDATE");
    second.execute("BEGIN; INSERT INTO plants (id, name) VALUES (2, 'Fern')");
    let begin = |plant: &str| -> Connection {
        let mut connection = paused.connect();
        connection.send(&paused.post(plant));
        connection
    };
    let mut creates = vec![begin(&plant(1, "Ficus", None))];
    wait_until_blocked_by(&first, &cluster);
    // These wait in the queue, so they become one batch, and two statements. The second one is more
    // than the sockets hold: the end of the transaction cannot be on its way while the first waits.
    let long = "x".repeat(50_000_000);
    creates.extend(
        [(2, "Fern"), (3, "Ivy"), (4, &long)].map(|(id, name)| begin(&plant(id, name, None))),
    );
    let metrics = metrics_address(&paused);
    let queued = || series(&scrape(metrics))["plant_store_queue_depth"] == "3";
    paused.wait_until("three creates in the queue", queued);
    first.execute("ROLLBACK");
    wait_until_blocked_by(&second, &cluster);
    let pause = Paused::pause(paused.pid());
    second.execute("ROLLBACK");
    wait_for_backend(&cluster, "state = 'idle in transaction'");

    let create = || other.create(&plant(2, "Fern", None)).status;
    other.wait_until("the plant to be free", || create() == 200);
    other.create(&plant(3, "Ivy", None)).plant();
    drop(pause);
    for mut create in creates {
        let answer = create.receive();
        assert!(answer.status == 200 || answer.refusal().0 == 503, "{answer:?}");
    }
    paused.create(&plant(4, &long, None)).plant();
    assert!(other.export().into_keys().eq(1..=4));
}

#[test]
fn token_command_that_is_paused_in_a_transaction_does_not_stop_the_others() {
    let cluster = Cluster::start();
    create_database(&cluster);
    let server = Server::starting_in(Folder::over(&as_owner(&cluster.url("plants")))).start();
    let holder = cluster.session("plants");
    holder.execute("BEGIN; SELECT 1 FROM token_changes FOR UPDATE");
    let mut command: Command = Folder::over(server.store()).command();
    command.args(["token", "create", "paused"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut command = command.current_dir("/").spawn().expect("the binary starts");
    wait_until_blocked_by(&holder, &cluster);
    let process = Pid::from_raw(command.id().try_into().expect("a process id"));
    let pause = Paused::pause(process);
    holder.execute("ROLLBACK");
    wait_for_backend(&cluster, "state = 'idle in transaction'");

    let folder = Folder::over(server.store());
    let create = || folder.command().args(["token", "create", "ci"]).output().expect("it starts");
    server.wait_until("a token", || create().status.success());
    drop(pause);
    let _ = command.wait();
}
