use rusqlite::ffi::Error;

use super::*;

/// SQLite calls it a "disk I/O error".
#[test]
fn wal_index_without_space_is_a_full_disk() {
    let error = rusqlite::Error::SqliteFailure(Error::new(SQLITE_IOERR_SHMSIZE), None);
    let failed = failed(Path::new("x.db"), "open the store")(error);
    assert_eq!(failed.reason(), Reason::Full);
    let expected = "sqlite:x.db: cannot open the store: the disk is full";
    assert!(failed.to_string().starts_with(expected), "{failed}");
}
