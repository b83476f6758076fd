//! The store, opened by a test while the server uses it: to read, lock or break it.

use plant_store_tests::postgres::Session;
use plant_store_tests::{Engine, Server};
use rusqlite::Connection;

/// The default name of the store's file.
pub const STORE: &str = "plant-store.db";

/// The WAL of that store.
pub const WAL: &str = "plant-store.db-wal";

/// The name of its index, which processes that have the store open share.
pub const INDEX: &str = "plant-store.db-shm";

/// The file of a store in SQLite.
pub fn open(server: &Server) -> Connection {
    Connection::open(server.folder().join(STORE)).expect("the store opens")
}

/// The database of a store in PostgreSQL.
pub fn session(server: &Server) -> Session {
    Session::open(server.store())
}

/// Runs a statement that both engines know.
pub fn execute(server: &Server, statement: &str) {
    match Engine::of_this_run() {
        Engine::Sqlite => open(server).execute_batch(statement).expect("the store takes it"),
        Engine::Postgres => session(server).execute(statement),
    }
}

/// The number that a query returns, which both engines know.
pub fn number(server: &Server, query: &str) -> i64 {
    match Engine::of_this_run() {
        Engine::Sqlite => {
            open(server).query_row(query, [], |row| row.get(0)).expect("a number is stored")
        }
        Engine::Postgres => session(server).value(query).parse().expect("a number is stored"),
    }
}

/// While it is kept, no create is committed.
#[expect(dead_code, reason = "dropping it ends its transaction")]
pub enum Lock {
    File(Connection),
    Table(Session),
}

/// Takes the store's one write lock, or the one of the plants; they can be read.
pub fn locked(server: &Server) -> Lock {
    match Engine::of_this_run() {
        Engine::Sqlite => {
            let store = open(server);
            store.execute_batch("BEGIN IMMEDIATE").expect("the lock is free");
            Lock::File(store)
        }
        Engine::Postgres => {
            let session = session(server);
            session.execute("BEGIN; LOCK TABLE plants IN EXCLUSIVE MODE");
            Lock::Table(session)
        }
    }
}

/// Makes every create fail with a fault of the store, whose cause is [`no_plants_table`].
pub fn drop_plants_table(server: &Server) {
    execute(server, "DROP TABLE plants");
}

/// What the engine says of a table that is not there.
pub fn no_plants_table() -> &'static str {
    match Engine::of_this_run() {
        Engine::Sqlite => "no such table: plants",
        Engine::Postgres => "does not exist",
    }
}

/// Everything that the store keeps of its tokens.
pub fn tokens(server: &Server) -> Vec<u8> {
    match Engine::of_this_run() {
        Engine::Sqlite => [STORE, WAL]
            .map(|file| std::fs::read(server.folder().join(file)).expect("a file"))
            .concat(),
        Engine::Postgres => {
            // `escape` leaves the bytes of text as they are.
            let text = "convert_from(convert_to(tokens::text, 'UTF8'), 'UTF8')";
            let escaped =
                format!("SELECT string_agg({text} || encode(digest, 'escape'), ' ') FROM tokens");
            session(server).value(&escaped).into_bytes()
        }
    }
}
