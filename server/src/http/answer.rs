//! The end of a request: why it is refused, its answer, its record in the log, and its metrics.
//!
//! The operation has two answers: a 200 with the text of a `Plant`, and a 400 with an `Error`, both as
//! `application/json`. A message is for the client and must hold nothing internal: the cause of a fault
//! goes to the log. No record holds a value of a plant, a token or a URI.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dropshot::Body;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, Response, StatusCode};
use http_body_util::Full;
use metrics::{Counter, Histogram, Unit, counter, describe_counter, describe_histogram, histogram};
use plant_store_api::api::Answer;
use plant_store_api::error_code::{Error, ErrorCode};
use plant_store_listener::requests::Untaken;
use plant_store_store::Guard;
use slog::{KV, Record, Serializer};

use crate::http::strict::NotANewPlant;

/// RFC 6750, section 3.1: without an `error` code if no token was given.
const CHALLENGE: HeaderValue = HeaderValue::from_static(r#"Bearer realm="plant-store""#);
const CHALLENGE_INVALID: HeaderValue =
    HeaderValue::from_static(r#"Bearer realm="plant-store", error="invalid_token""#);

const REFUSALS: &str = "plant_store_refusals_total";
const REQUEST_DURATION: &str = "plant_store_request_duration_seconds";

/// A refused request. `Display` is the message of its `Error` body.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    NotANewPlant(#[from] NotANewPlant),
    /// RFC 9112, section 3.2.
    #[error("the request must have one `Host` header, which names a host")]
    Host,
    /// RFC 9112, section 6.1.
    #[error("the body must be sent without a `Transfer-Encoding`, or as `chunked`")]
    TransferCoding,
    /// The framing of the body broke: a bad chunk, or the client went away.
    #[error("the body broke off: send the whole request again")]
    BrokenBody,
    /// No bearer token was sent: no header, or another scheme's.
    #[error("a bearer token is required: send `Authorization: Bearer <ACCESS_TOKEN>`")]
    NoToken,
    /// What was sent as a bearer token is not one.
    #[error("the bearer token is malformed: send `Authorization: Bearer <ACCESS_TOKEN>` once")]
    MalformedToken,
    /// A well-formed token that is not accepted. It is unknown, expired or revoked; the client is
    /// not told which.
    #[error("the bearer token is unknown, expired or revoked: ask the operator for a new one")]
    TokenNotAccepted,
    /// For the log; the client is told the same.
    #[error("{}", Self::TokenNotAccepted)]
    TokenExpired,
    #[error("the body did not arrive within {}", humantime::format_duration(*.0))]
    BodyTimeout(Duration),
    #[error("plant {id} exists and is a different one: choose another id")]
    Conflict { id: i64 },
    #[error("the body is larger than {limit} bytes")]
    BodyTooLarge { limit: usize },
    #[error("the body must be sent as `Content-Type: application/json`")]
    NotJsonMediaType,
    /// RFC 9110, section 8.4: a coding that this service does not undo.
    #[error("the body must be sent without a `Content-Encoding`")]
    ContentCoding,
    #[error(
        "the token may send {limit} creates a second: send the plant again in a moment, as it is"
    )]
    TooManyCreates { limit: NonZeroU32 },
    /// A fault of the service or of its store. Its cause is for the log.
    #[error("the service failed; the operator finds the cause in the log by the request id")]
    Fault { cause: String },
    /// No place is free, or the token has its share of them.
    #[error("the service is at its limit: send the plant again in a moment, as it is")]
    Overload,
    /// The plant may be in the store or not; the same create, sent again, tells.
    #[error("the store cannot be reached: send the plant again in a moment, as it is")]
    StoreUnavailable,
}

impl Refusal {
    /// Whether the connection has to close: after a head that breaks RFC 9112 it is unclear where the
    /// next request begins.
    pub fn ends_connection(&self) -> bool {
        matches!(self, Self::Host | Self::TransferCoding)
    }

    /// Why, for the log: the cause of a fault, which the client must not know, and what is wrong
    /// with a body, which its sender may ask about. What the sender wrote is not repeated.
    pub fn cause(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Fault { cause } => Some(Cow::Borrowed(cause)),
            Self::TokenExpired => Some("the token has expired".into()),
            Self::NotANewPlant(NotANewPlant::Repeated(_)) => Some("a member is given twice".into()),
            _ if self.code() == ErrorCode::BadRequest => Some(self.to_string().into()),
            _ => None,
        }
    }

    /// The value of `Error.error`.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotANewPlant(_) | Self::Host | Self::TransferCoding | Self::BrokenBody => {
                ErrorCode::BadRequest
            }
            Self::NoToken | Self::MalformedToken | Self::TokenNotAccepted | Self::TokenExpired => {
                ErrorCode::Unauthorized
            }
            Self::BodyTimeout(_) => ErrorCode::RequestTimeout,
            Self::Conflict { .. } => ErrorCode::Conflict,
            Self::BodyTooLarge { .. } => ErrorCode::ContentTooLarge,
            Self::NotJsonMediaType | Self::ContentCoding => ErrorCode::UnsupportedMediaType,
            Self::TooManyCreates { .. } => ErrorCode::TooManyRequests,
            Self::Fault { .. } => ErrorCode::InternalServerError,
            Self::Overload | Self::StoreUnavailable => ErrorCode::ServiceUnavailable,
        }
    }
}

/// The text of a plant that was stored. It keeps the place of its create until the connection has
/// sent or dropped the last byte: hyper takes the bytes out of the body before that.
struct Stored {
    plant: Arc<str>,
    _place: Guard,
    /// The connection is closed if this is there for too long.
    _untaken: Untaken,
}

impl AsRef<[u8]> for Stored {
    fn as_ref(&self) -> &[u8] {
        self.plant.as_bytes()
    }
}

/// The answer to a stored plant, whose create has that place.
pub fn accept(plant: Arc<str>, place: Guard, untaken: Untaken) -> Answer {
    let stored = Stored { plant, _place: place, _untaken: untaken };
    let body = Body::wrap(Full::new(Bytes::from_owner(stored)));
    Answer(response(StatusCode::OK, body))
}

/// The answer to a refused request.
pub fn refuse(refusal: &Refusal) -> Answer {
    let code = refusal.code();
    let error = Error { error: code.number().into(), message: refusal.to_string() };
    let body = serde_json::to_vec(&error).expect("strings and integers are always JSON");
    let mut response = response(StatusCode::BAD_REQUEST, Body::from(body));
    let headers = response.headers_mut();
    if code == ErrorCode::Unauthorized {
        let is_absent = matches!(refusal, Refusal::NoToken);
        headers.insert(WWW_AUTHENTICATE, if is_absent { CHALLENGE } else { CHALLENGE_INVALID });
    }
    if let Some(seconds) = code.retry_after() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    Answer(response)
}

/// RFC 9112, section 9.6: the connection closes after this response, because the rest of the request
/// will not be read.
pub fn closing_connection(mut answer: Answer) -> Answer {
    answer.0.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn response(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The fields of a request's record.
pub struct Access<'a> {
    /// The id that the answer carries as `X-Request-Id`.
    pub request_id: &'a str,
    pub remote_addr: SocketAddr,
    pub refusal: Option<&'a Refusal>,
    /// The name of the accepted token.
    pub token: Option<&'a str>,
    /// The names of members that were ignored, a few of them.
    pub ignored: &'a [String],
    /// From the routed request to the finished answer.
    pub latency: Duration,
}

impl KV for Access<'_> {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        serializer.emit_str("req_id".into(), self.request_id)?;
        serializer.emit_arguments("remote_addr".into(), &format_args!("{}", self.remote_addr))?;
        // The operation has one.
        serializer.emit_str("method".into(), Method::POST.as_str())?;
        // The contract has one status for every refusal.
        serializer.emit_u16("status".into(), if self.refusal.is_some() { 400 } else { 200 })?;
        if let Some(refusal) = self.refusal {
            serializer.emit_u16("error".into(), refusal.code().number())?;
        }
        if let Some(cause) = self.refusal.and_then(Refusal::cause) {
            serializer.emit_str("cause".into(), &cause)?;
        }
        if let Some(token) = self.token {
            serializer.emit_str("token".into(), token)?;
        }
        if !self.ignored.is_empty() {
            serializer.emit_str("ignored".into(), &self.ignored.join(","))?;
        }
        let latency = u64::try_from(self.latency.as_micros()).unwrap_or(u64::MAX);
        serializer.emit_u64("latency_us".into(), latency)
    }
}

/// The series of requests.
pub struct RequestMetrics {
    duration: Histogram,
    /// By the order of [`ErrorCode::ALL`].
    refusals: Vec<Counter>,
}

impl RequestMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        describe_counter!(
            REFUSALS,
            "Requests of the operation that were refused, by the error member of the answer."
        );
        describe_histogram!(
            REQUEST_DURATION,
            Unit::Seconds,
            "From the routed request to its answer, refusals included."
        );
        let refusals = |code: &ErrorCode| counter!(REFUSALS, "error" => code.number().to_string());
        Self {
            duration: histogram!(REQUEST_DURATION),
            refusals: ErrorCode::ALL.iter().map(refusals).collect(),
        }
    }

    /// Counts an answered request: `error` is that of a refusal.
    pub fn answered(&self, error: Option<ErrorCode>, latency: Duration) {
        self.duration.record(latency);
        if let Some(error) = error {
            self.refusals[error as usize].increment(1);
        }
    }
}
