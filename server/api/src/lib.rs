//! The contract of the plant store, written once. The service implements it, and the published
//! document is made from it.
//!
//! - [`types`] are the schemas of a plant.
//! - [`error_code`] is the schema of a refusal, and the table of the values of `Error.error`.
//! - [`api`] is the operation, as a trait, with its [`request`] and its [`answer`].
//! - [`document`] completes the document that Dropshot makes from them.
//!
//! Nothing here knows how a request is read or refused, who may send it, or where a plant is kept.

pub mod answer;
pub mod api;
pub mod document;
pub mod error_code;
pub mod request;
pub mod types;
