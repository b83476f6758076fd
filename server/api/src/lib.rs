//! The contract of the plant store. It is written once: the service implements it, and the
//! published OpenAPI document is generated from it.
//!
//! - [`types`] contains the schemas of a plant.
//! - [`error_code`] contains the schema of an error response and the table of `error` values.
//! - [`api`] declares the operation as a trait, with its [`request`] and its [`answer`].
//! - [`document`] completes the document that Dropshot generates from these modules.
//!
//! Nothing here knows how a request is read or refused, who may send it, or where plants are
//! stored.

pub mod answer;
pub mod api;
pub mod document;
pub mod error_code;
pub mod request;
pub mod types;
