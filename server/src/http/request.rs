//! A request from its head to its answer: what every operation does alike.
//!
//! An operation is a function from a [`Request`] and its token to an answer or a [`Refusal`].
//! [`respond`] calls it only with a token that is accepted, and makes of its result the answer, the
//! record and the count: nothing else does.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use dropshot::RequestContext;
use http::HeaderMap;
use http::header::{CONNECTION, HeaderValue, WWW_AUTHENTICATE};
use plant_store_api::answer::{Answer, Content};
use plant_store_api::error_code::Error;
use plant_store_api::request::Unread;
use serde::de::DeserializeOwned;
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::http::access_log::{AccessRecord, Answered};
use crate::http::body::{BodyLimits, UnreadBody};
use crate::http::head::credentials;
use crate::http::json;
use crate::http::known_tokens::KnownToken;
use crate::http::refusal::Refusal;
use crate::http::service::Service;

/// How long the refusal of a request past the rate of its token waits. Otherwise a client that does
/// not wait would keep the service busy with refusals, and requests with other tokens waiting.
const PAUSE_PAST_RATE: Duration = Duration::from_millis(100);

/// A request of an operation. The document describes its body as a `T`.
pub struct Request<T> {
    /// The header fields. There are none once the body is read.
    pub headers: HeaderMap,
    body: UnreadBody,
    schema: PhantomData<fn() -> T>,
    record: AccessRecord,
}

/// Has the operation handle the request if its token is accepted, and answers, counts and records
/// what comes of it. It is never an `Err`: a refusal is an [`Answer`], because it has headers.
// Not an `async fn`: its future would keep its parameters, and so the whole head, until the answer.
pub fn respond<B, T: Content>(
    context: RequestContext<Arc<Service>>,
    unread: Unread<B>,
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
        match result {
            Err(Refusal::TooManyRequests { .. }) => sleep(PAUSE_PAST_RATE).await,
            // Otherwise hyper answers up to 16 pipelined requests of a connection before others.
            Err(_) => yield_now().await,
            Ok(_) => {}
        }
        Ok(request.finish(result))
    }
}

impl<B> Request<B> {
    fn new(context: RequestContext<Arc<Service>>, unread: Unread<B>) -> Self {
        let access_log = Arc::clone(&context.context().access_log);
        Self {
            body: UnreadBody::new(&unread.head, unread.body),
            headers: unread.head.headers,
            schema: PhantomData,
            record: AccessRecord::new(access_log, context),
        }
    }

    /// The token of the request, if it is accepted.
    ///
    /// # Errors
    ///
    /// `error` 401, or 503 if the tokens are not known.
    fn accepted_token(&mut self, service: &Service) -> Result<Arc<KnownToken>, Refusal> {
        let token = service.tokens.find(&credentials(&self.headers)?)?;
        self.record.token = Some(Arc::clone(&token));
        token.check_expiry()?;
        Ok(token)
    }

    fn finish<T: Content>(mut self, result: Result<Answer<T>, Refusal>) -> Answer<T> {
        match result {
            Ok(answer) => {
                self.record.answer = Some(Answered { status: answer.status(), refusal: None });
                answer
            }
            Err(refusal) => {
                let answer = self.refused(&refusal);
                let refusal = Some(refusal);
                self.record.answer = Some(Answered { status: answer.status(), refusal });
                answer
            }
        }
    }

    fn refused<T: Content>(&mut self, refusal: &Refusal) -> Answer<T> {
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
    /// Receives the body.
    ///
    /// # Errors
    ///
    /// `error` 400, 408 or 413.
    pub async fn receive(&mut self, limits: &BodyLimits) -> Result<Vec<u8>, Refusal> {
        // A head may have 400 KiB, and a body may come slowly.
        self.headers = HeaderMap::new();
        self.body.read(limits).await
    }

    /// Parses the body, as what the document describes.
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
