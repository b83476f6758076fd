//! The steps that operations have in common, from the head of a request to its answer.
//!
//! An operation is a function that takes an [`Accepted`] request, whose token is accepted, and
//! returns an answer or a [`Refusal`]. [`respond`] is the only code that turns the result into an
//! answer, an access record and metrics.
//!
//! Before [`Accepted::body`] holds a permit, nothing may wait for a byte of the body, because
//! waiting makes hyper send `100 Continue`. Only the digest of the token may leave this module,
//! never any other part of the `Authorization` header.

use std::marker::PhantomData;
use std::sync::Arc;

use dropshot::{Body, RequestContext};
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt;
use humantime::format_duration;
use hyper::body::Body as _;
use plant_store_api::answer::{Answer, Content, JsonText};
use plant_store_api::error_code::{Error, ErrorCode};
use plant_store_api::request::UnreadRequest;
use plant_store_store::token::TokenDigest;
use plant_store_store::{Guard, Outcome, Row};
use serde::de::DeserializeOwned;
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::http::access_log::AccessRecord;
use crate::http::refusal::Refusal;
use crate::http::tokens::KnownToken;
use crate::http::{Limits, Service, json};
use crate::names::{REALM, TOKEN_PREFIX};
use crate::token::Token;

/// The first allocation for a body, at most. A client may declare any length.
const FIRST_ALLOCATION: usize = 64 * 1024;

/// A request of an operation. The document describes its body as a `T`.
struct Request<T> {
    /// The header fields. Empty once the body is being read.
    headers: HeaderMap,
    /// `None` once the body is being read, or if nobody will read it.
    body: Option<Body>,
    schema: PhantomData<fn() -> T>,
    record: AccessRecord,
}

/// A request whose token is accepted.
pub struct Accepted<T> {
    service: Arc<Service>,
    request: Request<T>,
    token: Arc<KnownToken>,
    /// Held from before the body is read until the whole answer has been written to the socket.
    permit: Option<Guard>,
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
    operation: impl AsyncFnOnce(&mut Accepted<B>) -> Result<Answer<T>, Refusal>,
) -> impl Future<Output = Result<Answer<T>, Error>> {
    let service = Arc::clone(context.context());
    let mut request = Request {
        body: Some(unread.body),
        headers: unread.head.headers,
        schema: PhantomData,
        record: AccessRecord::new(Arc::clone(&service.access_log), context),
    };
    async move {
        let (mut request, result) = match request.accepted_token(&service) {
            Ok(token) => {
                let mut accepted = Accepted { service, request, token, permit: None };
                let result = operation(&mut accepted).await;
                (accepted.request, result)
            }
            Err(refusal) => (request, Err(refusal)),
        };
        let answer = match result {
            Ok(answer) => answer,
            Err(refusal) => {
                // hyper drops what arrived of the body with the head, or else closes the connection
                // after the answer and says so (RFC 9112, section 9.6).
                request.body = None;
                // Without this, hyper answers up to 16 pipelined requests of one connection before
                // it serves the others.
                yield_now().await;
                let answer = refuse(&refusal);
                request.record.refusal = Some(refusal);
                answer
            }
        };
        request.record.status = Some(answer.status());
        Ok(answer)
    }
}

fn refuse<T: Content>(refusal: &Refusal) -> Answer<T> {
    let mut answer = Answer::refusal(refusal.code, refusal.message.to_string());
    if refusal.code == ErrorCode::Unauthorized {
        let error = if refusal.lacks_token { "" } else { r#", error="invalid_token""# };
        let challenge = format!(r#"Bearer realm="{REALM}"{error}"#);
        let challenge = challenge.try_into().expect("the realm is ASCII");
        answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    answer
}

impl<B> Request<B> {
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

    /// Checks that the body is plain `application/json`: a single media type (RFC 9110, section
    /// 8.3), compared case-insensitively, and no content coding (section 8.4). Parameters are
    /// ignored, because RFC 8259 defines none for `application/json`.
    fn require_json(&self) -> Result<(), Refusal> {
        let media_type = single_value(&self.headers, &CONTENT_TYPE);
        let essence = media_type.and_then(|value| value.as_bytes().split(|b| *b == b';').next());
        if !essence.unwrap_or_default().trim_ascii().eq_ignore_ascii_case(b"application/json") {
            return Err(ErrorCode::UnsupportedMediaType.into());
        }
        if self.headers.contains_key(CONTENT_ENCODING) {
            let message = "the body must be sent without a `Content-Encoding`";
            return Err(Refusal::new(ErrorCode::UnsupportedMediaType, message));
        }
        Ok(())
    }

    /// Receives the whole body within the limits.
    async fn receive(&mut self, limits: &Limits) -> Result<Vec<u8>, Refusal> {
        // Free the head, which may have 400 KiB, because the body may arrive slowly.
        self.headers = HeaderMap::new();
        let limit = usize::try_from(limits.max_body.as_u64()).unwrap_or(usize::MAX);
        let body = self.body.take().expect("the body is received once");
        let received = timeout(*limits.body_timeout, receive_up_to(limit, body)).await;
        received.unwrap_or_else(|_| {
            let limit = format_duration(*limits.body_timeout);
            let message = format!("the body did not arrive within {limit}");
            Err(Refusal::new(ErrorCode::RequestTimeout, message))
        })
    }
}

impl<T: DeserializeOwned> Accepted<T> {
    /// Receives and parses the body, within the limits: checks the media type, acquires a permit,
    /// and only then reads the first byte. Checks the token again at the end, because it may have
    /// been revoked since.
    ///
    /// # Errors
    ///
    /// `error` 400, 401, 408, 413, 415 or 503.
    pub async fn body(&mut self) -> Result<T, Refusal> {
        self.request.require_json()?;
        self.permit = Some(Arc::new(self.service.permits.acquire(&self.token.permits)?));
        let body = self.request.receive(&self.service.limits).await?;
        let parsed = json::parse(&body)?;
        drop(body);
        self.request.record.ignored = parsed.ignored;
        self.service.tokens.check_still_accepted(&self.token)?;
        Ok(parsed.value)
    }

    /// Commits a resource under this id, and answers with it once it is durable.
    ///
    /// This future may be dropped at any point: a queued create is committed whether or not the
    /// client still waits for the answer.
    ///
    /// # Errors
    ///
    /// `error` 409, 500 or 503.
    pub async fn commit<R: Content>(
        &mut self,
        id: i64,
        resource: &R,
    ) -> Result<Answer<R>, Refusal> {
        let permit = self.permit.take().expect("a create has read its body");
        let text = JsonText::new(resource);
        let row = Row { id, json: text.share() };
        match self.service.commits.create(row, Arc::clone(&permit)).await? {
            Outcome::Created | Outcome::Repeated => Ok(Answer::ok(text, permit)),
            Outcome::Conflict => {
                let message =
                    format!("plant {id} already exists and is different: choose another id");
                Err(Refusal::new(ErrorCode::Conflict, message))
            }
        }
    }
}

async fn receive_up_to(limit: usize, mut body: Body) -> Result<Vec<u8>, Refusal> {
    let too_large = || {
        let message = format!("the body is larger than {limit} bytes");
        Refusal::new(ErrorCode::ContentTooLarge, message)
    };
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > limit {
        return Err(too_large());
    }
    // The bytes are copied, because otherwise each of many small chunks would keep a network buffer
    // alive.
    let mut bytes = Vec::with_capacity(declared.min(FIRST_ALLOCATION));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            let message =
                "the body is incomplete: it ended early, or one of its chunks is malformed";
            Refusal::new(ErrorCode::BadRequest, message).because("the body is incomplete")
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > limit - bytes.len() {
            return Err(too_large());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Returns the digest of the bearer token (RFC 9110, section 11.6.2; RFC 6750, section 2.1).
///
/// # Errors
///
/// `error` 401.
fn credentials(headers: &HeaderMap) -> Result<TokenDigest, Refusal> {
    let unauthorized = |message: String| Refusal::new(ErrorCode::Unauthorized, message);
    let missing = || Refusal {
        lacks_token: true,
        ..unauthorized(
            "a bearer token is required: send `Authorization: Bearer <ACCESS_TOKEN>`".into(),
        )
    };
    let malformed = || {
        unauthorized(
            "the bearer token is malformed: send `Authorization: Bearer <ACCESS_TOKEN>` once"
                .into(),
        )
    };
    let mistyped = || {
        unauthorized(format!(
            "the bearer token is truncated or mistyped: a token is `{TOKEN_PREFIX}` followed by 38 \
             letters and digits; send it exactly as it was issued"
        ))
    };
    if !headers.contains_key(AUTHORIZATION) {
        return Err(missing());
    }
    let value = single_value(headers, &AUTHORIZATION).ok_or_else(malformed)?;
    // Tokens are ASCII.
    let value = value.to_str().map_err(|_| mistyped())?;
    let (scheme, credentials) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Err(missing());
    }
    // The grammar allows several spaces between the scheme and the token (1*SP).
    match credentials.trim_start_matches(' ') {
        "" => Err(malformed()),
        token => Ok(Token::parse(token).ok_or_else(mistyped)?.digest()),
    }
}

/// Returns the value of a field that occurs exactly once.
fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { None } else { first }
}
