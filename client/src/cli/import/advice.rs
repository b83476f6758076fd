//! What to do with a file that holds its plants in a form that an import does not read.

use super::format::{BYTE_ORDER_MARK, Format};

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
