//! What Dropshot's listener lacks: a bound on connections, a time-out for those that say nothing,
//! and an option of its socket. The *door* is the mechanism that lets connections in or keeps them
//! out: a limit on open files, and a packet filter.
//!
//! Dropshot 0.18 binds its listener itself, accepts in a task of its own, and keeps the connections
//! (<https://github.com/oxidecomputer/dropshot/issues/726>). A program cannot give it a listener,
//! and cannot see a connection before its first request. So this room asks the kernel about the
//! [`descriptors`] of this process, and acts on the sockets themselves: the [`door`] shuts when all
//! places are taken, and [`connections`] shuts down the socket of one that was idle for too long.
//!
//! # The bound
//!
//! Clients must not take the descriptors that the rest of the service needs. The rest of the
//! service does not know about the bound: it opens a file, a session on a database or an operator's
//! connection as any other program does. So the kernel has to keep the clients out of the process:
//!
//! ```text
//!   the door is open                               the door is shut
//!   the soft limit on open files leaves            a packet filter on the listener's socket drops
//!   as many descriptors as there are places        whatever comes, the listener's queue is empty,
//!                                                  and the soft limit is higher: nobody but the
//!                                                  service itself can take a descriptor
//!          ── accept(2) fails with EMFILE, or a look finds no place ──▶
//!          ◀────────────── a look finds a free place ──────────────────
//! ```
//!
//! At the first connection too many, accept(2) fails. Dropshot reports that to its logger in the
//! loop that accepts, so it accepts nothing until the logger returns. The logger shuts the door
//! before it returns. Only between the failed accept(2) and the shut door, the service itself may
//! fail to open something; it tries again, as after any other fault.
//!
//! A client in front of a shut door waits: its TCP sends the SYN again, at first every second (RFC
//! 6298), as if the queue of the listener were full. The connections that are in the queue when the
//! door shuts are closed. So are new ones that a look finds past the bound, because operators or the
//! service closed descriptors before it. Where the system refuses packet filters the door cannot
//! shut: the log says so at the start, and that look is all that keeps the bound.
//!
//! If a later Dropshot takes a listener, delete this folder: a listener of our own can set
//! `TCP_NODELAY` and hold a permit of a semaphore for each connection. What remains are the requests
//! in flight, which a stop waits for ([`connections::InFlight`]), and a time-out in each stream.

pub mod connections;
pub mod descriptors;
pub mod door;
