//! A pseudo-terminal (pty(7)) for a program.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;

use nix::libc::O_NOCTTY;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The test's side of a terminal with 80 columns, and the program's side.
///
/// Reading the test's side ends with an error when no process has the other side open any more. So
/// both are closed in every process that a test starts meanwhile (`O_CLOEXEC`), and the test must
/// drop the [`Command`](std::process::Command) that has the program's side.
pub fn terminal() -> (File, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).expect("a pseudo-terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("its other side can be opened");
    let name = ptsname(&ours, Vec::new()).expect("it has a name");
    let path = OsStr::from_bytes(name.as_bytes());
    let theirs = File::options().read(true).write(true).custom_flags(O_NOCTTY).open(path);
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&ours, size).expect("it has a size");
    (ours.into(), theirs.expect("its other side"))
}
