//! A text that a command reads, from a file or stdin.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// What a text may begin with, and what is no part of it (U+FEFF in UTF-8). Windows writes it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How many of the first bytes tell what a file is.
const MAGIC: u64 = 4;

/// What files are that are not UTF-8, by their first bytes, and what to do with them.
const NOT_UTF_8: [(&[u8], &str); 10] = [
    (b"\xFF\xFE\0\0", "UTF-32, not UTF-8: read - from `iconv -f UTF-32 -t UTF-8 FILE`"),
    (b"\0\0\xFE\xFF", "UTF-32, not UTF-8: read - from `iconv -f UTF-32 -t UTF-8 FILE`"),
    (b"\xFF\xFE", UTF_16),
    (b"\xFE\xFF", UTF_16),
    (b"\x1F\x8B", "compressed by gzip: read - from `zcat FILE`"),
    (b"BZh", "compressed by bzip2: read - from `bzcat FILE`"),
    (b"\xFD7zX", "compressed by xz: read - from `xzcat FILE`"),
    (b"\x28\xB5\x2F\xFD", "compressed by zstd: read - from `zstdcat FILE`"),
    (b"PK\x03\x04", WORKBOOK),
    (b"\xD0\xCF\x11\xE0", WORKBOOK),
];

const UTF_16: &str = "UTF-16, not UTF-8: read - from `iconv -f UTF-16 -t UTF-8 FILE`, or save it \
                      as \"CSV UTF-8\"";
const WORKBOOK: &str = "a ZIP archive or a workbook of a spreadsheet: save it as \"CSV UTF-8\"";

/// No line of JSON or CSV holds a NUL. Each letter of ASCII has one in UTF-16 and UTF-32.
const NUL: &str = "not UTF-8, because it holds a NUL, as UTF-16 does without a byte order mark: \
                   read - from `iconv -f UTF-16LE -t UTF-8 FILE`";

/// A file, or stdin.
pub type Input = Box<dyn Read + Send>;

/// Opens a file; `-` is stdin.
pub fn open(path: &Path) -> io::Result<Input> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

/// The text of a file, without a byte order mark. Waits for its first bytes, and fails if they are
/// not those of a text in UTF-8.
pub fn text<R: Read>(mut input: R) -> Result<Chain<Cursor<Vec<u8>>, R>> {
    let mut head = Vec::new();
    input.by_ref().take(MAGIC).read_to_end(&mut head)?;
    if let Some((_, what)) = NOT_UTF_8.iter().find(|(magic, _)| head.starts_with(magic)) {
        bail!("it is {what}");
    }
    if head.contains(&0) {
        bail!("it is {NUL}");
    }
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head).to_owned();
    Ok(Cursor::new(head).chain(input))
}

/// Adds the name of a file to an error.
pub fn named<T>(path: &Path, result: Result<T>) -> Result<T> {
    let is_stdin = path == Path::new("-");
    result.with_context(|| match is_stdin {
        true => "cannot read stdin".to_owned(),
        false => format!("cannot read {}", path.display()),
    })
}
