//! Two fields of the store's first page, which SQLite leaves to the application
//! (<https://sqlite.org/fileformat2.html#the_database_header>).
//!
//! `application_id` says that this is a plant store, with which layout, and whether it is open: a
//! server sets that before it serves and takes it back at its end. `user_version` is the store's
//! id, a random number. Every transaction of the service writes it again and so writes the first
//! page: every WAL then holds the id of the store to which it belongs.

use std::fs::File;
use std::io;
use std::num::NonZeroI32;
use std::os::unix::fs::FileExt;

use rusqlite::Connection;

use crate::layout::LAYOUT;

/// "PLS" and a byte: the layout, and the lowest bit for open.
const PLANT_STORE: u32 = 0x504c_5300;

/// The fields of a plant store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub id: i32,
    pub layout: u8,
    pub is_open: bool,
}

impl Header {
    /// Of a new store.
    pub fn random() -> Self {
        Self { id: rand::random::<NonZeroI32>().get(), layout: LAYOUT, is_open: false }
    }

    /// Reads the file as it is, without its WAL; none if it is not a plant store. SQLite could call
    /// the file malformed, because a crash within a checkpoint leaves it copied in part.
    pub fn of_file(file: &File) -> io::Result<Option<Self>> {
        let mut bytes = [0; 100];
        // A shorter file has no such fields.
        file.read_at(&mut bytes, 0)?;
        let field = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let header = Self::new(u32::from_be_bytes(field(68)), i32::from_be_bytes(field(60)));
        Ok(header.filter(|_| bytes.starts_with(b"SQLite format 3\0")))
    }

    /// Reads the file with its WAL; none if it is not a plant store.
    pub fn of(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let application =
            connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let user = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok(Self::new(application, user))
    }

    fn new(application: u32, id: i32) -> Option<Self> {
        let [.., byte] = application.to_be_bytes();
        let is_ours = application & !0xff == PLANT_STORE;
        is_ours.then_some(Self { id, layout: byte >> 1, is_open: byte & 1 == 1 })
    }

    /// Writes both fields.
    pub fn write(self, connection: &Connection) -> rusqlite::Result<()> {
        let application = PLANT_STORE | u32::from(self.layout << 1 | u8::from(self.is_open));
        connection.pragma_update(None, "application_id", application)?;
        connection.pragma_update(None, "user_version", self.id)
    }
}
