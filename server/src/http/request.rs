//! The part of a request that all operations have in common, from the head to the answer.
//!
//! An operation is a function that takes a [`Request`] and its token, and returns an answer or a
//! [`Refusal`]. [`respond`] calls the operation only if the token is accepted. It is the only code
//! that turns the result into an answer, an access record and metrics.

use std::marker::PhantomData;
use std::sync::Arc;

use dropshot::RequestContext;
use http::HeaderMap;
use http::header::{CONNECTION, HeaderValue, WWW_AUTHENTICATE};
use plant_store_api::answer::{Answer, Content};
use plant_store_api::error_code::Error;
use plant_store_api::request::UnreadRequest;
use serde::de::DeserializeOwned;
use tokio::task::yield_now;

use crate::http::access_log::{AccessRecord, Completed};
use crate::http::body::UnreadBody;
use crate::http::head::credentials;
use crate::http::json;
use crate::http::known_tokens::KnownToken;
use crate::http::limits::Limits;
use crate::http::refusal::Refusal;
use crate::http::service::Service;

/// A request of an operation. The document describes its body as a `T`.
pub struct Request<T> {
    /// The header fields. Empty once the body is being read.
    pub headers: HeaderMap,
    body: UnreadBody,
    schema: PhantomData<fn() -> T>,
    record: AccessRecord,
}

/// Runs the operation if the token of the request is accepted, and answers, counts and logs the
/// request.
///
/// The result is never an `Err`: a refusal is returned as an [`Answer`], because it needs headers.
// Not an `async fn`, because its future would hold the parameters, and with them the whole head,
// until the answer.
pub fn respond<B, T: Content>(
    context: RequestContext<Arc<Service>>,
    unread: UnreadRequest<B>,
    operation: impl AsyncFnOnce(
        &Service,
        &mut Request<B>,
        Arc<KnownToken>,
    ) -> Result<Answer<T>, Refusal>,
) -> impl Future<Output = Result<Answer<T>, Error>> {
    let service = Arc::clone(context.context());
    let mut request = Request::new(context, unread);
    async move {
        let result = match request.accepted_token(&service) {
            Ok(token) => operation(&service, &mut request, token).await,
            Err(refusal) => Err(refusal),
        };
        if result.is_err() {
            // Without this, hyper answers up to 16 pipelined requests of one connection before it
            // serves the others.
            yield_now().await;
        }
        Ok(request.finish(result))
    }
}

impl<B> Request<B> {
    fn new(context: RequestContext<Arc<Service>>, unread: UnreadRequest<B>) -> Self {
        let access_log = Arc::clone(&context.context().access_log);
        Self {
            body: UnreadBody::new(&unread.head, unread.body),
            headers: unread.head.headers,
            schema: PhantomData,
            record: AccessRecord::new(access_log, context),
        }
    }

    /// Returns the token of the request if it is accepted.
    ///
    /// # Errors
    ///
    /// `error` 401, or 503 if the tokens are unavailable.
    fn accepted_token(&mut self, service: &Service) -> Result<Arc<KnownToken>, Refusal> {
        let token = service.tokens.find(&credentials(&self.headers)?)?;
        self.record.token = Some(Arc::clone(&token));
        token.check_expiry()?;
        Ok(token)
    }

    fn finish<T: Content>(mut self, result: Result<Answer<T>, Refusal>) -> Answer<T> {
        match result {
            Ok(answer) => {
                self.record.completed = Some(Completed { status: answer.status(), refusal: None });
                answer
            }
            Err(refusal) => {
                let answer = self.refuse(&refusal);
                let refusal = Some(refusal);
                self.record.completed = Some(Completed { status: answer.status(), refusal });
                answer
            }
        }
    }

    fn refuse<T: Content>(&mut self, refusal: &Refusal) -> Answer<T> {
        let mut answer = Answer::refusal(refusal.code(), refusal.to_string());
        let headers = answer.headers_mut();
        if let Some(challenge) = refusal.challenge() {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        self.body.drop_received();
        if self.body.must_close_connection() {
            // RFC 9112, section 9.6.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

impl<T: DeserializeOwned> Request<T> {
    /// Receives the whole body.
    ///
    /// # Errors
    ///
    /// `error` 400, 408 or 413.
    pub async fn receive(&mut self, limits: &Limits) -> Result<Vec<u8>, Refusal> {
        // Free the head, which may have 400 KiB, because the body may arrive slowly.
        self.headers = HeaderMap::new();
        self.body.read(limits).await
    }

    /// Parses the body as the type that the document declares.
    ///
    /// # Errors
    ///
    /// `error` 400.
    pub fn parse(&mut self, body: &[u8]) -> Result<T, Refusal> {
        let parsed = json::parse(body)?;
        self.record.ignored = parsed.ignored;
        Ok(parsed.value)
    }
}
