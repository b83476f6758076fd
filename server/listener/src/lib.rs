//! What Dropshot's listener lacks: a limit on connections, time-outs for idle ones and for answers
//! that are not taken, and `TCP_NODELAY`.
//!
//! Dropshot 0.18 binds its listener itself, accepts in a task of its own, and keeps the connections
//! (<https://github.com/oxidecomputer/dropshot/issues/726>). So this crate asks the kernel about the
//! `descriptors` of this process, and acts on the sockets themselves: [`limit`] pauses the listener
//! while there are as many connections as there may be, and [`connections`] shuts down those that
//! are idle, or whose clients take no answers. [`requests`] is what the service's requests tell
//! about their connections. [`logger`] learns from Dropshot's records that accept(2) has failed.
//!
//! It knows neither HTTP nor Dropshot's types, only a logger.
//!
//! # The limit
//!
//! Clients must not take the descriptors that the rest of the service needs: it opens a file, a
//! session on a database or an operator's connection as any other program does. So the kernel must
//! keep the clients from connecting. While the listener accepts, the soft limit on open files
//! leaves as many descriptors as there may be connections. At the first connection too many,
//! accept(2) fails. Dropshot reports that to its logger in the loop that accepts, so it accepts
//! nothing until the logger returns. The logger pauses the listener: a packet filter on the
//! listener's socket drops the packets of new clients, the connections in the listener's queue are
//! closed, and the soft limit is raised. Now nobody but the service itself can take a descriptor.
//! Only between the failed accept(2) and the pause, the service itself may fail to open something;
//! it tries again, as after any other fault.
//!
//! A look at all descriptors, about once a second, pauses the listener too, or resumes it if there
//! are fewer connections. It closes new connections past the limit: there are some if operators or
//! the service closed descriptors before it. Where the system refuses packet filters, that is all
//! that keeps the limit.
//!
//! If a later Dropshot takes a listener, delete this crate: a listener of the service's own can
//! set `TCP_NODELAY` and hold a permit of a semaphore for each connection. What remains are the
//! requests in flight, which a stop waits for ([`requests::InFlight`]), and time-outs in each
//! stream.

pub mod connections;
mod descriptors;
#[cfg(test)]
mod dropshot_tests;
pub mod limit;
pub mod logger;
pub mod requests;

/// The example in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
