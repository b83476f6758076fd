//! The text that a command reads from a file or stdin.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// U+FEFF in UTF-8, which Windows programs write at the start of a file. It is not part of the
/// text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How many bytes at the start of a file identify its type.
const MAGIC_LENGTH: u64 = 4;

/// File types that are not UTF-8: the first bytes, the name, and the command that converts the file
/// to UTF-8.
const NOT_UTF_8: [(&[u8], &str, &str); 10] = [
    (b"\xFF\xFE\0\0", "UTF-32", "iconv -f UTF-32 -t UTF-8"),
    (b"\0\0\xFE\xFF", "UTF-32", "iconv -f UTF-32 -t UTF-8"),
    (b"\xFF\xFE", "UTF-16", "iconv -f UTF-16 -t UTF-8"),
    (b"\xFE\xFF", "UTF-16", "iconv -f UTF-16 -t UTF-8"),
    (b"\x1F\x8B", "compressed with gzip", "zcat"),
    (b"BZh", "compressed with bzip2", "bzcat"),
    (b"\xFD7zX", "compressed with xz", "xzcat"),
    (b"\x28\xB5\x2F\xFD", "compressed with zstd", "zstdcat"),
    (b"PK\x03\x04", WORKBOOK, ""),
    (b"\xD0\xCF\x11\xE0", WORKBOOK, ""),
];

const WORKBOOK: &str = "a spreadsheet workbook or a ZIP archive";

/// What a NUL byte means. JSON and CSV contain none, but every ASCII character contains one in
/// UTF-16 and UTF-32, even without a byte order mark.
const NUL: (&str, &str) =
    ("UTF-16 or not text (it contains a NUL byte)", "iconv -f UTF-16LE -t UTF-8");

/// A file, or stdin.
pub type Input = Box<dyn Read + Send>;

/// Opens a file; `-` is stdin.
pub fn open(path: &Path) -> io::Result<Input> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

/// Returns the text of a file without its byte order mark. Waits for the first bytes, and fails if
/// they show that the file is not UTF-8.
pub fn utf_8<R: Read>(mut input: R) -> Result<Chain<Cursor<Vec<u8>>, R>> {
    let mut head = Vec::new();
    input.by_ref().take(MAGIC_LENGTH).read_to_end(&mut head)?;
    let known = NOT_UTF_8.iter().find(|(magic, _, _)| head.starts_with(magic));
    let nul = head.contains(&0).then_some(NUL);
    match known.map(|(_, what, filter)| (*what, *filter)).or(nul) {
        Some((what, "")) => bail!("it is {what}: save it as \"CSV UTF-8\""),
        Some((what, filter)) => {
            bail!("it is {what}; pipe it through `{filter}`, and pass - as the file")
        }
        None => {}
    }
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head).to_owned();
    Ok(Cursor::new(head).chain(input))
}

/// Adds the name of the file to an error.
pub fn with_name<T>(path: &Path, result: Result<T>) -> Result<T> {
    let is_stdin = path == Path::new("-");
    result.with_context(|| match is_stdin {
        true => "cannot read standard input".to_owned(),
        false => format!("cannot read {}", path.display()),
    })
}
