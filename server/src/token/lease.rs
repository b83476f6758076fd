//! For how long a server may use what it has read of the tokens.

use std::time::Duration;

/// For how long a server accepts the tokens that it has read. So a command that has changed the
/// tokens waits for that time: then every server has read the change, or accepts no token.
pub const LEASE: Duration = Duration::from_secs(2);
