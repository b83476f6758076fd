//! A record of a file: a line, or a row of CSV, which may have several lines.

use std::fs::File;

use bytes::Bytes;
use serde::Deserialize;

use super::count::line_ends;
use crate::{ErrorCode, types};

/// The longest record that is sent, in bytes: more than the longest body that the service takes by
/// default.
pub const LONGEST: u64 = 1024 * 1024;

/// A record, and the body that is sent for it.
pub struct Record {
    /// The number of its first line, from 1 on.
    pub line: u64,
    /// The plant's id, if it has one: no two with one id are under way at once.
    pub id: Option<i64>,
    /// As it is in the file, without the end of its last line.
    pub text: Bytes,
    /// What is beyond [`LONGEST`], in a file without a name.
    pub rest: Option<File>,
    /// The body of the request, or why there is none.
    pub body: Result<Bytes, types::Error>,
}

impl Record {
    /// A record of this text. `body` is what is sent for it, or why nothing is.
    pub fn new(line: u64, text: Bytes, body: Result<Bytes, String>) -> Self {
        let body = not_utf8(line, &text).map_or(body, Err);
        let body = body.map_err(|message| refusal(ErrorCode::BadRequest, message));
        Self { line, id: body.as_deref().ok().and_then(id), text, rest: None, body }
    }

    /// A line that is too long to be sent: its beginning, and its rest.
    pub fn too_long(line: u64, text: Bytes, rest: File) -> Self {
        let message = "the line is longer than 1 MiB".to_owned();
        let body = Err(refusal(ErrorCode::ContentTooLarge, message));
        Self { line, id: None, text, rest: Some(rest), body }
    }
}

/// A refusal of this program, like those of the service.
pub fn refusal(code: ErrorCode, message: String) -> types::Error {
    types::Error { error: code.number(), message }
}

fn id(json: &[u8]) -> Option<i64> {
    #[derive(Deserialize)]
    struct Plant {
        id: i64,
    }
    serde_json::from_slice(json).ok().map(|Plant { id }| id)
}

/// Where a text is not UTF-8, and what to do. An editor shows the same line and column.
fn not_utf8(line: u64, text: &[u8]) -> Option<String> {
    let valid = &text[..str::from_utf8(text).err()?.valid_up_to()];
    let last_line = valid.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let column = String::from_utf8_lossy(last_line).chars().count() + 1;
    Some(format!(
        "the byte 0x{:02X} at line {} column {column} is not UTF-8: if the file is Latin-1, \
         convert it with iconv -f WINDOWS-1252 -t UTF-8",
        text[valid.len()],
        line + line_ends(valid),
    ))
}
