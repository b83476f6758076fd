//! The descriptors of this process, by their numbers. A number may belong to another file a moment
//! later. So no code acts on a number, but on a second descriptor that it owns.
//!
//! Nothing here closes a descriptor of a file that is no socket: that would release the POSIX locks
//! of the whole process on that file (fcntl(2)), and an engine of a store may rely on them.

use std::io::{IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
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
    pub local: Option<SocketAddr>,
    /// The peer's address, if it was connected.
    pub peer: Option<SocketAddr>,
}

/// The open descriptors below the number `end`, in order.
pub fn open_below(end: RawFd) -> Vec<Descriptor> {
    (0..end).filter_map(Descriptor::of).collect()
}

impl Descriptor {
    fn of(number: RawFd) -> Option<Self> {
        let name = getsockname(number);
        if name == Err(Errno::EBADF) {
            return None;
        }
        let local = name.ok().as_ref().and_then(address);
        let peer = local.and_then(|_| getpeername(number).ok()).as_ref().and_then(address);
        Some(Self { number, local, peer })
    }
}

/// Makes second descriptors of sockets. It sends their numbers in messages to itself (unix(7),
/// `SCM_RIGHTS`), and the kernel gives the receiver a descriptor of the same file.
pub struct Duplicator {
    sender: UnixDatagram,
    receiver: UnixDatagram,
}

impl Duplicator {
    /// It has two descriptors, and needs a third one for each that it makes.
    pub fn new() -> Result<Self> {
        let (sender, receiver) = UnixDatagram::pair()?;
        Ok(Self { sender, receiver })
    }

    /// A second descriptor of the same socket. None if the number belongs to another file now, or
    /// if all descriptors are in use.
    pub fn duplicate(&self, socket: &Descriptor) -> Option<OwnedFd> {
        let second = self.second(socket.number)?;
        if getsockname::<SockaddrStorage>(second.as_raw_fd()) == Err(Errno::ENOTSOCK) {
            // The number belongs to a file now. Its second descriptor stays open until the process
            // ends, because closing it would release the process's locks on that file.
            let _ = second.into_raw_fd();
            return None;
        }
        let now = Descriptor::of(second.as_raw_fd())?;
        (now.local == socket.local && now.peer == socket.peer).then_some(second)
    }

    fn second(&self, number: RawFd) -> Option<OwnedFd> {
        let numbers = [number];
        let right = [ControlMessage::ScmRights(&numbers)];
        let sent = [IoSlice::new(b"\0")];
        let to_its_pair = None::<&()>;
        sendmsg(self.sender.as_raw_fd(), &sent, &right, MsgFlags::empty(), to_its_pair).ok()?;
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut messages = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let mut received = [IoSliceMut::new(&mut byte)];
        recvmsg(&self.receiver, &mut received, &mut messages, RecvFlags::CMSG_CLOEXEC).ok()?;
        messages.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        })
    }
}

fn address(socket: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = socket.as_sockaddr_in().map(|address| SocketAddr::V4((*address).into()));
    v4.or_else(|| socket.as_sockaddr_in6().map(|address| SocketAddr::V6((*address).into())))
}

#[cfg(test)]
mod tests;
