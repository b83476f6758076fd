//! The clusters of the tests themselves: they can be killed and started again, and have standbys.

use std::fs;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use plant_store_tests::postgres::{Cluster, Mode, Session};
use plant_store_tests::wait_until;

/// A cluster with a table of numbers.
fn with_numbers() -> (Cluster, Session) {
    let cluster = Cluster::start();
    let session = cluster.session("postgres");
    session.execute("CREATE TABLE numbers (number integer)");
    (cluster, session)
}

fn insert(session: &Session, number: u32) {
    session.execute(&format!("INSERT INTO numbers VALUES ({number})"));
}

fn numbers(cluster: &Cluster) -> String {
    let session = cluster.session("postgres");
    session.value("SELECT coalesce(string_agg(number::text, ',' ORDER BY number), '') FROM numbers")
}

/// Waits until a backend waits for a standby.
fn wait_for_waiting_commit(cluster: &Cluster) {
    let query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let session = cluster.session("postgres");
    wait_until(|| session.value(query) == "1", || "no commit waits".into());
}

#[test]
fn cluster_comes_back_on_its_port_with_what_was_committed() {
    let (cluster, session) = with_numbers();
    insert(&session, 1);
    let stops: [&dyn Fn(); 3] =
        [&|| cluster.kill(), &|| cluster.stop(Mode::Immediate), &|| cluster.stop(Mode::Fast)];
    for stop in stops {
        let open = cluster.session("postgres");
        open.execute("BEGIN");
        insert(&open, 2);
        let url = cluster.url("postgres");
        stop();
        assert!(open.try_rows("COMMIT").is_err());
        assert!(Session::try_open(&url).is_err());
        cluster.start_again();
        assert_eq!(numbers(&cluster), "1");
        assert_eq!(cluster.url("postgres"), url);
    }
}

#[test]
fn setting_is_in_force_for_new_sessions_and_for_open_ones() {
    let cluster = Cluster::start();
    let open = cluster.session("postgres");
    for (name, value) in [("fsync", "off"), ("synchronous_commit", "local"), ("fsync", "on")] {
        cluster.set(name, value);
        assert_eq!(cluster.session("postgres").value(&format!("SHOW {name}")), value);
        assert_eq!(open.value(&format!("SHOW {name}")), value);
    }
}

#[test]
fn databases_are_apart_and_are_removed_with_their_sessions() {
    let cluster = Cluster::start();
    let databases = cluster.databases();
    let [one, other] = ["one", "Other"].map(|name| Session::open(&databases.create(name)));
    one.execute("CREATE TABLE numbers (number integer)");
    assert!(other.try_rows("SELECT * FROM numbers").is_err());
    let pid = one.value("SELECT pg_backend_pid()");
    assert_eq!(databases.backends("one"), [pid.parse::<i32>().expect("a number")]);
    databases.remove("one");
    assert!(one.try_rows("SELECT 1").is_err());
    assert!(Session::try_open(&databases.url("one")).is_err());
    assert_eq!(other.value("SELECT 1"), "1");
}

#[test]
fn promoted_standby_has_every_acknowledged_row_and_takes_writes() {
    let (primary, session) = with_numbers();
    let standby = primary.standby("s1");
    for number in 0..100 {
        insert(&session, number);
    }
    let before = numbers(&primary);
    primary.kill();
    standby.promote();
    assert_eq!(numbers(&standby), before);
    insert(&standby.session("postgres"), 100);
}

#[test]
fn commit_waits_while_the_standby_is_away() {
    let (primary, session) = with_numbers();
    let standby = primary.standby("s1");
    standby.stop(Mode::Fast);
    thread::scope(|scope| {
        let commit = scope.spawn(|| insert(&session, 1));
        wait_for_waiting_commit(&primary);
        assert_eq!(numbers(&primary), "");
        standby.start_again();
        commit.join().expect("the commit ends");
    });
    primary.wait_for_standby("s1");
    assert_eq!(numbers(&standby), "1");
}

/// Says where its cluster is, and waits until its standard input ends.
#[test]
#[ignore = "the next test starts it in a process of its own"]
fn process_with_a_cluster() {
    let cluster = Cluster::start();
    let folder = cluster.session("postgres").value("SHOW data_directory");
    println!("cluster {} {folder}", cluster.pid());
    // Nothing comes.
    let _ = stdin().read(&mut [0]);
}

#[test]
fn killed_process_leaves_no_server_no_folder_and_no_shared_memory() {
    let mut process = Command::new(std::env::current_exe().expect("this process has a program"))
        .args(["--ignored", "--exact", "postgres::clusters::process_with_a_cluster"])
        .arg("--nocapture")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
    let mut lines = lines.map(|line| line.expect("text"));
    let said = lines.find_map(|line| Some(line.split_once("cluster ")?.1.to_owned()));
    let said = said.expect("it starts a cluster");
    let (server, data) = said.split_once(' ').expect("a process id and a folder");
    let folder = Path::new(data).parent().expect("the folder of the cluster");
    let pid_file = fs::read_to_string(Path::new(data).join("postmaster.pid")).expect("a server");
    let segment = pid_file.lines().nth(6).and_then(|line| line.split_whitespace().nth(1));
    let segment = segment.expect("the id of a System V segment");
    let segments = || fs::read_to_string("/proc/sysvipc/shm").expect("this is Linux");
    let is_listed =
        || segments().lines().any(|line| line.split_whitespace().nth(1) == Some(segment));
    let server = Path::new("/proc").join(server);
    assert!(server.exists() && is_listed());

    process.kill().expect("the process is ours");
    process.wait().expect("the process can be waited for");
    let is_gone = || !server.exists() && !folder.exists() && !is_listed();
    wait_until(is_gone, || format!("left: {said}"));
}

#[test]
fn cluster_that_was_killed_leaves_no_shared_memory() {
    let cluster = Cluster::start();
    let data = cluster.session("postgres").value("SHOW data_directory");
    let pid_file = fs::read_to_string(Path::new(&data).join("postmaster.pid")).expect("a server");
    let segment = pid_file.lines().nth(6).and_then(|line| line.split_whitespace().nth(1));
    cluster.kill();
    drop(cluster);
    let segments = fs::read_to_string("/proc/sysvipc/shm").expect("this is Linux");
    assert!(!segments.lines().any(|line| line.split_whitespace().nth(1) == segment), "{segments}");
    assert!(!Path::new(&data).exists());
}
