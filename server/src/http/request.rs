//! A request from its head to its answer: what every operation does alike.
//!
//! An operation is a function from a [`Request`] to an answer or a [`Refusal`]. [`respond`] makes
//! of its result the answer, the record and the count: nothing else does.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dropshot::RequestContext;
use http::header::{CONNECTION, HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use plant_store_api::answer::{Answer, Content};
use plant_store_api::error_code::Error;
use plant_store_api::request::Unread;
use serde::de::DeserializeOwned;
use slog::{debug, info};
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::http::access_record::AccessRecord;
use crate::http::body::{BodyLimits, UnreadBody};
use crate::http::head::credentials;
use crate::http::json;
use crate::http::known_tokens::{KnownToken, KnownTokens};
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
    /// The id that the answer carries as `X-Request-Id`.
    id: String,
    operation: String,
    remote_addr: SocketAddr,
    started: Instant,
    /// The token that it has, if the service knows it: for the record, also if it has expired.
    token: Option<Arc<KnownToken>>,
    /// The first names of members that were ignored: for the record.
    ignored: Vec<String>,
}

/// Has the operation handle the request, and answers, counts and records what comes of it. It is
/// never an `Err`: a refusal is an [`Answer`], because it has headers.
pub async fn respond<B, T: Content>(
    context: RequestContext<Arc<Service>>,
    unread: Unread<B>,
    operation: impl AsyncFnOnce(&Service, &mut Request<B>) -> Result<Answer<T>, Refusal>,
) -> Result<Answer<T>, Error> {
    let service = Arc::clone(context.context());
    let mut request = Request::new(context, unread);
    let result = operation(&service, &mut request).await;
    match result {
        Err(Refusal::TooManyRequests { .. }) => sleep(PAUSE_PAST_RATE).await,
        // Otherwise hyper answers up to 16 pipelined requests of a connection before others.
        Err(_) => yield_now().await,
        Ok(_) => {}
    }
    Ok(request.finish(&service, result))
}

impl<B> Request<B> {
    fn new<C: dropshot::ServerContext>(context: RequestContext<C>, unread: Unread<B>) -> Self {
        Self {
            body: UnreadBody::new(&unread.head, unread.body),
            headers: unread.head.headers,
            schema: PhantomData,
            remote_addr: context.request.remote_addr(),
            id: context.request_id,
            operation: context.endpoint.operation_id,
            started: Instant::now(),
            token: None,
            ignored: Vec::new(),
        }
    }

    /// The token of the request, if it is accepted.
    ///
    /// # Errors
    ///
    /// `error` 401, or 503 if the tokens are not known.
    pub fn accepted_token(&mut self, tokens: &KnownTokens) -> Result<Arc<KnownToken>, Refusal> {
        let token = tokens.find(&credentials(&self.headers)?)?;
        self.token = Some(Arc::clone(&token));
        token.check_expiry()?;
        Ok(token)
    }

    fn finish<T: Content>(
        mut self,
        service: &Service,
        result: Result<Answer<T>, Refusal>,
    ) -> Answer<T> {
        match result {
            Ok(answer) => {
                self.record(service, answer.status(), None);
                answer
            }
            Err(refusal) => {
                let answer = self.refused(&refusal);
                self.record(service, answer.status(), Some(&refusal));
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
        if self.body.must_close_connection() {
            // RFC 9112, section 9.6.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }

    fn record(&self, service: &Service, status: StatusCode, refusal: Option<&Refusal>) {
        let latency = self.started.elapsed();
        service.metrics.answered(refusal.map(Refusal::code), latency);
        let record = AccessRecord {
            request_id: &self.id,
            operation: &self.operation,
            remote_addr: self.remote_addr,
            status,
            refusal,
            token: self.token.as_ref().map(|token| token.stored.name.as_str()),
            ignored: &self.ignored,
            latency,
        };
        // The records of strangers could fill the disk that holds the log.
        if self.token.is_some() {
            info!(service.log, "request completed"; record);
        } else {
            debug!(service.log, "request completed"; record);
        }
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

    /// Reads the body, as what the document describes.
    ///
    /// # Errors
    ///
    /// `error` 400.
    pub fn read(&mut self, body: &[u8]) -> Result<T, Refusal> {
        let read = json::read(body)?;
        self.ignored = read.ignored;
        Ok(read.value)
    }
}
