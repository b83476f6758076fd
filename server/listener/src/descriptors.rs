//! The descriptors of this process, by their numbers. A number may belong to another file a moment
//! later. So no code acts on a number, but on a second descriptor that it owns.

use std::io::{IoSlice, IoSliceMut};
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

/// What had a number a moment ago.
pub struct Descriptor {
    pub number: RawFd,
    /// The local address, if it was a TCP socket.
    pub own: Option<SocketAddr>,
    /// The peer's, if it was connected.
    pub peer: Option<SocketAddr>,
}

/// The open descriptors below that number, in order.
pub fn open(end: RawFd) -> Vec<Descriptor> {
    (0..end).filter_map(Descriptor::of).collect()
}

impl Descriptor {
    fn of(number: RawFd) -> Option<Self> {
        let (own, peer) = (getsockname(number), getpeername(number));
        let is_open = own != Err(Errno::EBADF);
        is_open.then(|| Self { number, own: address(own), peer: address(peer) })
    }

    /// A second descriptor of the same socket. None if the number belongs to another file now, or if
    /// all descriptors are in use. The number is sent in a message (unix(7), `SCM_RIGHTS`), and the
    /// kernel gives the receiver a descriptor of the same file.
    pub fn duplicate(&self) -> Option<OwnedFd> {
        let (sender, receiver) = UnixDatagram::pair().ok()?;
        let (numbers, no_flags, to_its_pair) = ([self.number], MsgFlags::empty(), None::<&()>);
        let rights = [ControlMessage::ScmRights(&numbers)];
        let byte = [IoSlice::new(b"\0")];
        sendmsg(sender.as_raw_fd(), &byte, &rights, no_flags, to_its_pair).ok()?;
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut messages = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let bytes = &mut [IoSliceMut::new(&mut byte)];
        recvmsg(&receiver, bytes, &mut messages, RecvFlags::CMSG_CLOEXEC).ok()?;
        let mut rights = messages.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        let second = rights.next()?;
        let now = Self::of(second.as_raw_fd())?;
        (now.own == self.own && now.peer == self.peer).then_some(second)
    }
}

fn address(socket: nix::Result<SockaddrStorage>) -> Option<SocketAddr> {
    let socket = socket.ok()?;
    let v4 = socket.as_sockaddr_in().map(|it| SocketAddr::V4((*it).into()));
    v4.or_else(|| socket.as_sockaddr_in6().map(|it| SocketAddr::V6((*it).into())))
}
