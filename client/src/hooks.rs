//! What the generated client does with a request, by progenitor's hooks: it sends it once, or
//! repeats it. No operation needs a line here. Middleware for reqwest wraps its client, and the
//! generated client takes no other one.

use progenitor_client::{ClientHooks, OperationInfo};
use reqwest::{Request, Response};

use crate::exchange::{Parts, send};
use crate::repeats::Repeats;
use crate::{Client, Error};

/// How a [`Client`] sends a request. The default sends it once; a
/// [`RetryingClient`](crate::RetryingClient) has another one.
#[derive(Clone, Debug, Default)]
pub struct Sending(pub(crate) Option<Repeats>);

impl ClientHooks<Sending> for Client {
    async fn exec(&self, request: Request, _: &OperationInfo) -> reqwest::Result<Response> {
        let sent = match &self.inner.0 {
            None => send(&self.client, request).await,
            Some(repeats) => repeats.send(&self.client, &request).await,
        };
        sent.or_else(|unsuccessful| unsuccessful.answer)
    }

    /// The generated client takes each 400 for one of the contract: a proxy's is none.
    async fn post<E>(
        &self,
        result: &reqwest::Result<Response>,
        _: &OperationInfo,
    ) -> Result<(), Error<E>> {
        let Ok(response) = result else { return Ok(()) };
        match response.extensions().get() {
            Some(foreign) => Err(Error::UnexpectedResponse(Parts::of(response).foreign(foreign))),
            None => Ok(()),
        }
    }
}
