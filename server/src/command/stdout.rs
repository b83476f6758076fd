//! Standard output, whose errors say that it was standard output.

use std::io::{self, Error, StdoutLock, Write};

/// Standard output, locked.
pub struct Stdout(StdoutLock<'static>);

/// Locks it.
pub fn stdout() -> Stdout {
    Stdout(io::stdout().lock())
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|cause| named(&cause))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|cause| named(&cause))
    }
}

fn named(cause: &Error) -> Error {
    Error::new(cause.kind(), format!("cannot write to standard output: {cause}"))
}
