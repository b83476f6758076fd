//! What the clients share that progenitor generates: the token, retries, and why a request failed.
//!
//! The document of the service says what may be sent again: a refusal has a `Retry-After` header
//! exactly if the same request may be sent again, and `x-idempotent` marks the operations that may
//! be sent again if there was no response. A generated client becomes one of these clients with
//! the setting `with_inner_type("::groundwork_client::SendPolicy")`, with the replacement of the
//! schema `Error` by [`Refusal`], and with these lines:
//!
//! ```ignore
//! impl GeneratedClient for Client {
//!     const IDEMPOTENT: &[&str] = &["create_seed"];
//!
//!     fn new(base_url: &str, http: reqwest::Client, policy: SendPolicy) -> Self {
//!         Self::new_with_client(base_url, http, policy)
//!     }
//!
//!     fn policy(&mut self) -> &mut SendPolicy {
//!         &mut self.inner
//!     }
//! }
//!
//! impl ClientHooks<SendPolicy> for Client {
//!     async fn exec(&self, request: Request, operation: &OperationInfo) -> Result<Response> {
//!         self.inner.send(&self.client, request, operation).await
//!     }
//! }
//! ```
//!
//! Then `client::<Client>(url, token)?.with_retries(retry_policy())` builds a client. Nothing here
//! knows an operation or a type of a service.

mod client;
#[rustfmt::skip]
mod error_code;
mod failure;
mod retries;

pub use backon::ExponentialBuilder;
pub use client::{GeneratedClient, InvalidClient, client, client_with, settings};
pub use error_code::ErrorCode;
pub use failure::{Failure, escape_control};
pub use progenitor_client::{ClientHooks, OperationInfo};
pub use reqwest;
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
