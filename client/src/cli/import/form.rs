//! Which form a file has: JSON lines or CSV, packed or not; or another one, for which there is
//! advice. Its plants are read elsewhere.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// Of a file in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How much of a file is looked at, in bytes.
const HEAD: u64 = 512;

/// How the plants are written.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values, with the names of the members in the first line
    Csv,
}

impl Format {
    /// The one that the name of a file says.
    pub fn of_name(path: &Path) -> Self {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let is_csv = [".csv", ".csv.gz", ".csv.zst"].iter().any(|ending| name.ends_with(ending));
        if is_csv { Self::Csv } else { Self::Jsonl }
    }
}

/// The bytes of a file.
pub type Input = Box<dyn BufRead + Send>;

/// The beginning of a file, and all of it.
pub struct Peeked {
    /// The first line that is not empty, or its first bytes.
    pub head: Vec<u8>,
    /// All bytes, the head too.
    pub input: Input,
}

/// Looks at the beginning.
pub fn peek(mut input: Input) -> io::Result<Peeked> {
    let mut head = Vec::new();
    while (head.len() as u64) < HEAD && head.trim_ascii().is_empty() {
        if input.by_ref().take(HEAD).read_until(b'\n', &mut head)? == 0 {
            break;
        }
    }
    let input = Box::new(Cursor::new(head.clone()).chain(input));
    Ok(Peeked { head, input })
}

/// What unpacks an input that gzip or zstd has packed; or the input, if neither has.
pub enum Unpacked {
    Packed(Input),
    Plain(Input),
}

/// Unpacks what gzip or zstd has packed.
pub fn unpack(Peeked { head, input }: Peeked) -> io::Result<Unpacked> {
    Ok(match *head {
        [0x1f, 0x8b, ..] => Unpacked::Packed(Box::new(BufReader::new(MultiGzDecoder::new(input)))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Unpacked::Packed(Box::new(BufReader::new(zstd::Decoder::with_buffer(input)?)))
        }
        _ => Unpacked::Plain(input),
    })
}

/// What to do with a file that begins like this, if it holds plants in another form.
pub fn advice(head: &[u8], format: Format) -> Option<&'static str> {
    if head.starts_with(b"PK\x03\x04") {
        return Some("it is a zip or a spreadsheet: save it as CSV (UTF-8)");
    }
    if head.starts_with(b"\xfd7zXZ\0") {
        return Some("xz has compressed it: unpack it first");
    }
    if head.starts_with(b"BZh") {
        return Some("bzip2 has compressed it: unpack it first");
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") || head.contains(&0) {
        return Some("it is UTF-16: convert it with iconv -f UTF-16 -t UTF-8");
    }
    let text = String::from_utf8_lossy(head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head));
    match format {
        Format::Jsonl => advice_on_lines(text.trim()),
        Format::Csv => text
            .trim()
            .starts_with('{')
            .then_some("it looks like JSON lines: if it is, add --format jsonl"),
    }
}

fn advice_on_lines(text: &str) -> Option<&'static str> {
    if text.starts_with('[') {
        return Some(
            "it is a JSON array: make lines of it with jq -c '.[]' (jq 1.7 or later: an older one \
             rounds large ids)",
        );
    }
    if text == "{" {
        return Some(
            "its objects have several lines: make one of each with jq -c . (jq 1.7 or later: an \
             older one rounds large ids)",
        );
    }
    let mut names = text.split([',', ';', '\t']).map(|name| name.trim_matches([' ', '"']));
    let is_header = !text.starts_with('{') && names.any(|name| name == "id");
    is_header.then_some("it looks like CSV: if it is, add --format csv")
}
