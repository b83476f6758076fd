//! More clients than the process may have open files.

use std::net::TcpStream;

use plant_store_tests::process::open_files;
use plant_store_tests::{Server, amount, plant};

/// Creates go on when the clients have left. After an accept(2) that found no free file, Dropshot
/// retries every 100 ms, and the kernel holds the new connections in its backlog.
#[test]
fn more_clients_than_open_files_do_not_stop_the_server() {
    const FILES: usize = 64;
    let server = Server::starting().with_open_files(&format!("-n {FILES}")).start();
    server.wait_for_log(&format!("\"open_files\":{FILES}"));
    let mut early = server.connect();
    early.exchange(&server.post(&plant(0, "Ficus", None))).plant();
    for id in 1..=i64::try_from(amount(2, 10)).expect("fewer than 2^63") {
        let crowd: Vec<_> = (0..FILES)
            .map(|_| TcpStream::connect(server.address).expect("the kernel accepts it"))
            .collect();
        server.wait_until("each file is open", || open_files(server.pid()) >= FILES);
        early.exchange(&server.post(&plant(-id, "Ficus", None))).plant();
        drop(crowd);
        server.create(&plant(id, "Ficus", None)).plant();
    }
    assert!(!server.log().contains("accept"), "a record for each failure would fill the disk");
}
