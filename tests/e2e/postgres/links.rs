//! The network between the service and the database, as the tests can change it.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use plant_store_tests::postgres::{Cluster, Cut, Link, Session};
use plant_store_tests::wait_until;

fn linked() -> (Cluster, Link, Session) {
    let cluster = Cluster::start();
    let link = Link::to(&cluster);
    let session = link.databases().session("postgres");
    (cluster, link, session)
}

fn connect(link: &Link) -> std::io::Result<TcpStream> {
    let (_, address) = link.databases().server().split_once('@').expect("a user");
    TcpStream::connect(address)
}

#[test]
fn delay_is_that_of_each_way_and_keeps_order_and_rate() {
    let (_cluster, link, session) = linked();
    let numbers = "SELECT string_agg(number::text, ',') FROM generate_series(1, 1000000) number";
    let expected = session.value(numbers);
    link.delay(Duration::from_millis(50));
    let started = Instant::now();
    assert_eq!(session.value("SELECT 1"), "1");
    assert!(started.elapsed() >= Duration::from_millis(100), "{:?}", started.elapsed());
    // Its chunks would take much longer one after the other.
    let started = Instant::now();
    assert!(session.value(numbers) == expected);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn stall_keeps_connections_open_and_silent_until_it_ends() {
    let (cluster, link, session) = linked();
    let pid = session.value("SELECT pg_backend_pid()");
    link.stall();
    let mut stranger = connect(&link).expect("new connections are accepted");
    thread::scope(|scope| {
        let asked = scope.spawn(|| session.value("SELECT 'stalled'"));
        stranger.set_read_timeout(Some(Duration::from_millis(200))).expect("it takes options");
        let silent = stranger.read(&mut [0]).expect_err("no byte and no end").kind();
        assert_eq!(silent, ErrorKind::WouldBlock);
        let last = format!("SELECT query FROM pg_stat_activity WHERE pid = {pid}");
        assert_eq!(cluster.session("postgres").value(&last), "SELECT pg_backend_pid()");
        link.go_on();
        assert_eq!(asked.join().expect("an answer"), "stalled");
    });
    assert_eq!(session.value("SELECT pg_backend_pid()"), pid);
}

#[test]
fn cut_ends_connections_at_both_sides_and_refuses_new_ones() {
    let (cluster, link, session) = linked();
    let database = cluster.databases().create("linked");
    drop(session);
    drop(database);
    for how in [Cut::Reset, Cut::Close] {
        let session = link.databases().session("linked");
        let mut stranger = connect(&link).expect("the link goes on");
        // The second session says that the link has taken the connection before it.
        let _ = link.databases().session("linked");
        link.cut(how);
        let end = stranger.read(&mut [0]).map_err(|error| error.kind());
        match how {
            Cut::Reset => assert_eq!(end, Err(ErrorKind::ConnectionReset)),
            Cut::Close => assert_eq!(end, Ok(0)),
        }
        assert!(session.try_rows("SELECT 1").is_err(), "{how:?}");
        let refused = connect(&link).expect_err("nothing listens").kind();
        assert_eq!(refused, ErrorKind::ConnectionRefused);
        let backends = || cluster.databases().backends("linked");
        wait_until(|| backends().is_empty(), || format!("after {how:?}: {:?}", backends()));
        link.go_on();
        assert_eq!(link.databases().session("linked").value("SELECT 1"), "1");
    }
}
