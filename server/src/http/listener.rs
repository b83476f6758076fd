//! An option of the API's listener, which the connections that it accepts inherit (tcp(7)).
//!
//! Dropshot keeps its listener to itself, and an option is set by a handle that owns its
//! descriptor. So the number of the listener's descriptor is sent in a message (unix(7),
//! `SCM_RIGHTS`): the kernel gives the receiver a second descriptor of the same socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixDatagram;

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use rustix::cmsg_space;
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::descriptors::AT_START;
use crate::http::connections::own_address;

/// Its connections send each packet at once. Without `TCP_NODELAY` the second of two small packets
/// waits until the client acknowledges the first (RFC 9293, section 3.7.4), and a client may take
/// 40 ms for that. The first answer after the SETTINGS of HTTP/2, or after the tickets of TLS, took
/// that long.
pub fn send_at_once(listener: SocketAddr) -> io::Result<()> {
    // No connection has a lower one.
    let is_listener = |fd: &RawFd| own_address(*fd) == Some(listener);
    let listener = (0..AT_START).find(is_listener).ok_or(io::ErrorKind::NotFound)?;
    let (sender, receiver) = UnixDatagram::pair()?;
    let rights = [ControlMessage::ScmRights(&[listener])];
    let to_its_pair = None::<&()>;
    sendmsg(sender.as_raw_fd(), &[IoSlice::new(b"\0")], &rights, MsgFlags::empty(), to_its_pair)?;
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut messages = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let bytes = &mut [IoSliceMut::new(&mut byte)];
    recvmsg(&receiver, bytes, &mut messages, RecvFlags::CMSG_CLOEXEC)?;
    for message in messages.drain() {
        let RecvAncillaryMessage::ScmRights(descriptors) = message else { continue };
        for listener in descriptors {
            set_tcp_nodelay(listener, true)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::send_at_once;

    #[test]
    fn accepted_connections_inherit_tcp_nodelay() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let is_set = || {
            let _client = TcpStream::connect(address).expect("it listens");
            listener.accept().expect("a connection").0.nodelay().expect("an option of TCP")
        };
        assert!(!is_set());
        send_at_once(address).expect("a descriptor of this process");
        assert!(is_set());
    }
}
