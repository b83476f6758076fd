//! The store's own file, opened beside the server: how a test gets in the server's way.

use plant_store_tests::Server;
use rusqlite::Connection;

/// The store's file, where no flag names another.
pub const STORE: &str = "plant-store.db";

/// The log beside it.
pub const LOG: &str = "plant-store.db-wal";

/// A connection of the test's own to the server's store.
pub fn open(server: &Server) -> Connection {
    Connection::open(server.folder().join(STORE)).expect("the store opens")
}

/// The store with its one write lock taken: no create is committed before `ROLLBACK`.
pub fn locked(server: &Server) -> Connection {
    let store = open(server);
    store.execute_batch("BEGIN IMMEDIATE").expect("the lock is free");
    store
}

/// A fault that no create survives: the plants are gone from the store.
pub fn break_down(server: &Server) {
    open(server).execute_batch("DROP TABLE plants").expect("the store takes the change");
}
