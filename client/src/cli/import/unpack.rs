//! The bytes of a file, unpacked if gzip or zstd has packed them. Its beginning tells.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// How much of a file is looked at, in bytes.
const HEAD: u64 = 512;

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

/// An input that gzip and zstd do not pack, or no longer.
pub struct Unpacked {
    pub input: Input,
    pub was_packed: bool,
}

/// Unpacks what gzip or zstd has packed, and takes everything else as it is.
pub fn unpack(Peeked { head, input }: Peeked) -> io::Result<Unpacked> {
    let unpacked: Input = match *head {
        [0x1f, 0x8b, ..] => Box::new(BufReader::new(MultiGzDecoder::new(input))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Box::new(BufReader::new(zstd::Decoder::with_buffer(input)?))
        }
        _ => return Ok(Unpacked { input, was_packed: false }),
    };
    Ok(Unpacked { input: unpacked, was_packed: true })
}
