//! The generated client of the goose farm: `groundwork_client::client::<Client>(url, token)` builds
//! one. `cargo xtask generate` writes `generated.rs`, and the lines between the markers below.

#[rustfmt::skip]
mod generated;

use groundwork_client::reqwest::{self, Request, Response};
use groundwork_client::{ClientHooks, GeneratedClient, OperationInfo, SendPolicy};

pub use generated::{Client, types};

impl GeneratedClient for Client {
    #[rustfmt::skip]
    const IDEMPOTENT: &'static [&'static str] = &[
        // idempotent: generated from the document
        "add_goose",
        // end of idempotent
    ];

    fn new(base_url: &str, http: reqwest::Client, policy: SendPolicy) -> Self {
        Self::new_with_client(base_url, http, policy)
    }

    fn policy(&mut self) -> &mut SendPolicy {
        &mut self.inner
    }
}

impl ClientHooks<SendPolicy> for Client {
    async fn exec(&self, request: Request, info: &OperationInfo) -> reqwest::Result<Response> {
        self.inner.send(&self.client, request, info).await
    }
}
