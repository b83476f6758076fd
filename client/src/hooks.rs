//! progenitor's hooks: how the generated client sends a request, once or with retries.
//!
//! No operation needs a line here. Middleware for reqwest would not do: it wraps reqwest's client,
//! and the generated client takes only reqwest's own.

use progenitor_client::{ClientHooks, OperationInfo};
use reqwest::{Request, Response};

use crate::exchange::{Parts, send};
use crate::idempotent::IDEMPOTENT;
use crate::retrier::Retrier;
use crate::{Client, Error};

/// How a [`Client`] sends a request. The default sends it once. Only a
/// [`RetryingClient`](crate::RetryingClient) retries.
#[derive(Clone, Debug, Default)]
pub struct SendPolicy(pub(crate) Option<Retrier>);

impl ClientHooks<SendPolicy> for Client {
    async fn exec(&self, request: Request, info: &OperationInfo) -> reqwest::Result<Response> {
        let is_idempotent =
            request.method().is_idempotent() || IDEMPOTENT.contains(&info.operation_id);
        let sent = match self.inner.0.as_ref().filter(|_| is_idempotent) {
            None => send(&self.client, request).await,
            Some(retrier) => retrier.send(&self.client, &request).await,
        };
        sent.or_else(|error| error.result)
    }

    /// Reports a proxy's 400 as an unexpected response. The generated client would take any 400 for
    /// one of the contract.
    async fn post<E>(
        &self,
        result: &reqwest::Result<Response>,
        _: &OperationInfo,
    ) -> Result<(), Error<E>> {
        let Ok(response) = result else { return Ok(()) };
        match response.extensions().get() {
            Some(body) => Err(Error::UnexpectedResponse(Parts::of(response).unexpected(body))),
            None => Ok(()),
        }
    }
}
