//! The descriptors of this process, by their numbers. A number may belong to another file a moment
//! later. So no code acts on a number, but on a second descriptor that it owns.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, MsgFlags, SockaddrStorage, getpeername, getsockname, sendmsg,
};
use rustix::cmsg_space;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// The open descriptors below that number, in order, each with its local address if it is a TCP
/// socket.
pub fn open(end: RawFd) -> impl Iterator<Item = (RawFd, Option<SocketAddr>)> {
    (0..end).filter_map(|number| match getsockname(number) {
        Err(Errno::EBADF) => None,
        own => Some((number, own.ok().as_ref().and_then(address))),
    })
}

/// The addresses of both ends of a connected TCP socket: the local one and the peer's.
pub fn ends(number: RawFd) -> Option<(SocketAddr, SocketAddr)> {
    Some((address(&getsockname(number).ok()?)?, address(&getpeername(number).ok()?)?))
}

fn address(socket: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = socket.as_sockaddr_in().map(|it| SocketAddr::V4((*it).into()));
    v4.or_else(|| socket.as_sockaddr_in6().map(|it| SocketAddr::V6((*it).into())))
}

/// A second descriptor of the file that has that number now. The number is sent in a message (unix(7),
/// `SCM_RIGHTS`), and the kernel gives the receiver a descriptor of the same file.
pub fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    let (sender, receiver) = UnixDatagram::pair()?;
    let rights = [ControlMessage::ScmRights(&[number])];
    let to_its_pair = None::<&()>;
    sendmsg(sender.as_raw_fd(), &[IoSlice::new(b"\0")], &rights, MsgFlags::empty(), to_its_pair)?;
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut messages = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let bytes = &mut [IoSliceMut::new(&mut byte)];
    recvmsg(&receiver, bytes, &mut messages, RecvFlags::CMSG_CLOEXEC)?;
    let mut rights = messages.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    // There is none if all descriptors are in use.
    rights.next().ok_or_else(|| Errno::EMFILE.into())
}
