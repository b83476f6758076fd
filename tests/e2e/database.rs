//! Direct access to the files and the database of a store, so that a test can read, lock or break
//! it while a server uses it.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;

use plant_store_tests::postgres::Session;
use plant_store_tests::prelude::*;
use rusqlite::Connection;

/// The default name of the store's file.
pub const STORE: &str = "plant-store.db";

/// The WAL of that store.
pub const WAL: &str = "plant-store.db-wal";

/// The WAL index of that store, which all processes share that have the store open.
pub const WAL_INDEX: &str = "plant-store.db-shm";

/// What a row of a table does to a folder, or to a file that does not exist yet.
pub type Prepare = fn(&Path);

/// Returns each name in a folder, with the content of the file. Anything else has no content.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let file = |entry: fs::DirEntry| {
        let content = fs::read(entry.path()).unwrap_or_default();
        (entry.file_name().into_string().expect("text"), content)
    };
    entries.map(|entry| file(entry.expect("an entry"))).collect()
}

/// Opens the file of a store in SQLite.
pub fn open(server: &Server) -> Connection {
    Connection::open(server.folder().join(STORE)).expect("the store opens")
}

/// Opens a session with the database of a store in PostgreSQL.
pub fn session(server: &Server) -> Session {
    Session::open(server.store())
}

/// Runs a statement that both engines understand.
pub fn execute(server: &Server, statement: &str) {
    match Engine::of_this_run() {
        Engine::Sqlite => open(server).execute_batch(statement).expect("the statement succeeds"),
        Engine::Postgres => session(server).execute(statement),
    }
}

/// Creates plants with these ids, each of a few kilobytes, so that a thousand plants fill more than
/// one WAL.
pub fn create(server: &Server, ids: Range<i64>) {
    let name = "Ficus ".repeat(700);
    // Many at a time, so that they share commits.
    let mut connections: Vec<_> = (0..32).map(|_| server.connect()).collect();
    let ids: Vec<_> = ids.collect();
    for some in ids.chunks(connections.len()) {
        for (connection, id) in connections.iter_mut().zip(some) {
            connection.send(&server.post(&plant(*id, &name, None)));
        }
        for (connection, _) in connections.iter_mut().zip(some) {
            connection.receive().plant();
        }
    }
}

/// Adds small plants with these ids to the table.
pub fn insert(server: &Server, ids: Range<i64>) {
    let (first, last) = (ids.start, ids.end - 1);
    execute(
        server,
        &format!(
            "WITH RECURSIVE ids (id) AS (
                SELECT {first} UNION ALL SELECT id + 1 FROM ids WHERE id < {last}
            ) INSERT INTO plants (id, json)
                SELECT id, '{{\"name\":\"Ficus ' || id || '\"}}' FROM ids"
        ),
    );
}

/// Returns the number that a query selects. Both engines must understand the query.
pub fn number(server: &Server, query: &str) -> i64 {
    match Engine::of_this_run() {
        Engine::Sqlite => {
            open(server).query_row(query, [], |row| row.get(0)).expect("a number is stored")
        }
        Engine::Postgres => session(server).value(query).parse().expect("a number is stored"),
    }
}

/// Takes the only write lock of an SQLite store, or a lock of the table `plants` in PostgreSQL. No
/// create is committed until it is dropped. The plants can still be read.
pub fn locked(server: &Server) -> Box<dyn Any> {
    match Engine::of_this_run() {
        Engine::Sqlite => {
            let store = open(server);
            store.execute_batch("BEGIN IMMEDIATE").expect("the lock is free");
            Box::new(store)
        }
        Engine::Postgres => {
            let session = session(server);
            session.execute("BEGIN; LOCK TABLE plants IN EXCLUSIVE MODE");
            Box::new(session)
        }
    }
}

/// Part of the engine's message about a missing table.
pub fn no_plants_table() -> &'static str {
    match Engine::of_this_run() {
        Engine::Sqlite => "no such table: plants",
        Engine::Postgres => "SQLSTATE 42P01",
    }
}

/// Returns everything that the store keeps about its tokens.
pub fn tokens(server: &Server) -> Vec<u8> {
    match Engine::of_this_run() {
        Engine::Sqlite => {
            [STORE, WAL].map(|file| fs::read(server.folder().join(file)).expect("a file")).concat()
        }
        Engine::Postgres => {
            // `escape` leaves the bytes of text as they are.
            let text = "convert_from(convert_to(tokens::text, 'UTF8'), 'UTF8')";
            let escaped =
                format!("SELECT string_agg({text} || encode(digest, 'escape'), ' ') FROM tokens");
            session(server).value(&escaped).into_bytes()
        }
    }
}
