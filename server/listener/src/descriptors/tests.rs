use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{F_RDLCK, F_UNLCK, F_WRLCK, SEEK_SET, flock};

use super::{Descriptor, Duplicator};

fn whole_file(kind: i32) -> flock {
    let kind = kind.try_into().expect("a kind of a lock");
    let start = SEEK_SET.try_into().expect("the start of the file");
    flock { l_type: kind, l_whence: start, l_start: 0, l_len: 0, l_pid: 0 }
}

fn duplicator() -> Duplicator {
    Duplicator::new().expect("descriptors are free")
}

#[test]
fn number_that_belongs_to_a_locked_file_meanwhile_leaves_the_lock_in_force() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let lock = whole_file(F_WRLCK);
    fcntl(file.as_file(), FcntlArg::F_SETLK(&lock)).expect("nobody else has a lock");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 8080));
    let number = file.as_file().as_raw_fd();
    let was = Descriptor { number, local: Some(address), peer: Some(address) };
    assert!(duplicator().duplicate(&was).is_none());
    // A lock of an open file description conflicts with those of processes, also its own.
    let other = file.reopen().expect("the file is there");
    let mut found = whole_file(F_RDLCK);
    fcntl(&other, FcntlArg::F_OFD_GETLK(&mut found)).expect("locks of descriptions");
    assert_ne!(i32::from(found.l_type), F_UNLCK, "the lock is gone");
}

#[test]
fn number_that_belongs_to_another_socket_meanwhile_is_not_duplicated() {
    let any = (Ipv4Addr::LOCALHOST, 0);
    let one = TcpListener::bind(any).expect("a free port");
    let other = TcpListener::bind(any).expect("a free port");
    let local = one.local_addr().ok();
    let of =
        |listener: &TcpListener| Descriptor { number: listener.as_raw_fd(), local, peer: None };
    assert!(duplicator().duplicate(&of(&one)).is_some());
    assert!(duplicator().duplicate(&of(&other)).is_none());
}
