use rusqlite::ffi::Error;

use super::*;

/// SQLite reports this failure as a "disk I/O error".
#[test]
fn no_space_for_the_wal_index_is_reported_as_a_full_disk() {
    let error = rusqlite::Error::SqliteFailure(Error::new(SQLITE_IOERR_SHMSIZE), None);
    let failed = failed(Path::new("x.db"), "open the store")(error);
    assert_eq!(failed.reason(), Reason::Full);
    let expected = "sqlite:x.db: cannot open the store: the disk is full";
    assert!(failed.to_string().starts_with(expected), "{failed}");
}
