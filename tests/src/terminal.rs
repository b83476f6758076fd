//! A pseudoterminal (pty(7)) for a program.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;

use nix::libc::O_NOCTTY;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Opens a pseudoterminal with 80 columns. Returns the side for the test and the side for the
/// program.
///
/// Reading the side of the test fails once no process has the other side open. Therefore both sides
/// are closed in all processes that the test starts in the meantime (`O_CLOEXEC`), and the test
/// must drop the [`Command`](std::process::Command) that contains the side of the program.
pub fn terminal() -> (File, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let test_side = openpt(flags).expect("a pseudoterminal");
    grantpt(&test_side).and_then(|()| unlockpt(&test_side)).expect("it can be unlocked");
    let name = ptsname(&test_side, Vec::new()).expect("it has a name");
    let path = OsStr::from_bytes(name.as_bytes());
    let program_side = File::options().read(true).write(true).custom_flags(O_NOCTTY).open(path);
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&test_side, size).expect("it has a size");
    (test_side.into(), program_side.expect("the other side opens"))
}
