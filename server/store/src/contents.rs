//! Reading a whole store, and proof that no row was skipped.
//!
//! The database checks the structure of its file, but not the texts stored in it. If a single byte
//! of a text changes on disk, the digest changes.

use std::fmt::{self, Write as _};

use sha2::{Digest, Sha256};

use crate::engine::{Engine, PAGE_ROWS, Row};
use crate::error::{Error, Kind};

/// The rows of a store: their number, and the SHA-256 (FIPS 180-4) of all ids and texts. Two stores
/// with the same rows have the same contents, whatever their engines. Tokens are not included.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// The number of rows.
    pub rows: u64,
    last: Option<i64>,
    digest: Sha256,
}

impl Contents {
    /// Adds the next rows.
    ///
    /// # Errors
    ///
    /// [`Kind::Damaged`] if the ids do not ascend: reading would never end, or would skip rows.
    pub(crate) fn add(&mut self, rows: &[Row]) -> Result<(), Error> {
        for Row { id, json } in rows {
            if let Some(last) = self.last
                && last >= *id
            {
                let message = "the rows of the store are not ordered by id, after the id";
                let message = format!("{message} {last}");
                return Err(Error::new(Kind::Damaged, message));
            }
            self.last = Some(*id);
            self.digest.update(id.to_be_bytes());
            // Without the length, the end of a text could be read as the id of the next row.
            self.digest.update((json.len() as u64).to_be_bytes());
            self.digest.update(json.as_bytes());
        }
        self.rows += rows.len() as u64;
        Ok(())
    }

    /// Returns the digest as 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut digits = String::new();
        for byte in self.digest.clone().finalize() {
            let _ = write!(digits, "{byte:02x}");
        }
        digits
    }
}

impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows && self.digest() == other.digest()
    }
}

/// The number of rows and the digest.
impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows with the digest {}", self.rows, self.digest())
    }
}

/// Reads every row of the store in constant memory, ordered by id, and passes each page to `visit`.
///
/// # Errors
///
/// [`Kind::Damaged`] if `visit` may have missed a row: the ids do not ascend, fewer rows were
/// read than the store counted before the first page, or more than it counted after the last page.
pub fn read_all(
    store: &dyn Engine,
    mut visit: impl FnMut(&[Row]) -> anyhow::Result<()>,
) -> anyhow::Result<Contents> {
    let min = store.count()?;
    let mut contents = Contents::default();
    loop {
        let page = store.page(contents.last, PAGE_ROWS)?;
        if page.is_empty() {
            break;
        }
        contents.add(&page)?;
        visit(&page)?;
    }
    let read = contents.rows;
    // Rows are never removed, so a second count could only be larger.
    let max = if read > min { store.count()? } else { min };
    if (min..=max).contains(&read) {
        Ok(contents)
    } else {
        let message = format!("{read} rows were read, but the store counts {min} to {max}");
        Err(Error::new(Kind::Damaged, message).into())
    }
}
