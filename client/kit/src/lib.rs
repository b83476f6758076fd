//! What the clients share that progenitor generates: the token, retries, and why a request failed.
//!
//! The document of the service says what may be sent again: a refusal has a `Retry-After` header
//! exactly if the same request may be sent again, and `x-idempotent` marks the operations that may
//! be sent again if there was no response. `groundwork-testing` generates a client from the
//! document: progenitor with [`SendPolicy`] as the inner type, [`Refusal`] instead of the schema
//! `Error`, and the implementation of [`GeneratedClient`].
//!
//! `client::<Client>(url, token)?.with_retries(retry_policy())` builds a client. Nothing here
//! knows an operation or a type of a service.

mod client;
mod failure;
mod retries;

pub use backon::ExponentialBuilder;
pub use client::{GeneratedClient, InvalidClient, client, client_with, settings};
pub use failure::{Failure, escape_control};
pub use progenitor_client::{ClientHooks, OperationInfo};
pub use reqwest::{self, StatusCode};
pub use retries::{SendPolicy, retry_policy};

use serde::{Deserialize, Serialize};

/// The body of a refusal: the schema `Error` of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The HTTP status code (RFC 9110) that names the failure.
    pub error: i32,
    /// Human-readable explanation of what happened and what to do about it. The wording may change.
    pub message: String,
}
