//! A bearer token, its name, and what a store keeps of it.
//!
//! A token is text in two places only: where it is parsed, and where it is shown to its owner,
//! once. Nothing here may print one, not even in `Debug` output.

mod bearer;
mod name;
mod stored;

pub use bearer::{MalformedToken, Token, TokenDigest};
pub use name::{InvalidTokenName, TokenName};
pub use stored::StoredToken;
