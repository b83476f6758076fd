//! A bearer token, its name, and what a store keeps of it.
//!
//! A token is text in two places only: where it is parsed, and where it is shown to its owner,
//! once. Nothing here may print one, not even in `Debug` output.

mod bearer;
mod name;
mod stored;

use std::time::Duration;

pub use bearer::{MalformedToken, PREFIX, Token, TokenDigest};
pub use name::{InvalidTokenName, TokenName};
pub use stored::StoredToken;

/// For how long a server accepts the tokens that it has read. So a command that has changed the tokens
/// waits for that time: then every server has read the change, or accepts no token.
pub const LEASE: Duration = Duration::from_secs(2);
