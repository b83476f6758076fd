//! The store's file, opened by a test while the server uses it: to read, lock or break it.

use plant_store_tests::Server;
use rusqlite::Connection;

/// The default name of the store's file.
pub const STORE: &str = "plant-store.db";

/// The write-ahead log of that store.
pub const LOG: &str = "plant-store.db-wal";

pub fn open(server: &Server) -> Connection {
    Connection::open(server.folder().join(STORE)).expect("the store opens")
}

/// Takes the store's one write lock: no create is committed until `ROLLBACK` or the connection's
/// drop.
pub fn locked(server: &Server) -> Connection {
    let store = open(server);
    store.execute_batch("BEGIN IMMEDIATE").expect("the lock is free");
    store
}

/// Makes every create fail with a fault of the store.
pub fn drop_plants_table(server: &Server) {
    open(server).execute_batch("DROP TABLE plants").expect("the store takes the change");
}
