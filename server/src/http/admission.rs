//! What the head of a request decides, in this order, before one byte of its body is read. The
//! numbers are values of `error`, and the status is 400; only 404 and 405 are statuses, of
//! Dropshot's own refusals:
//!
//! | step | else |
//! | --- | --- |
//! | the exact route | 404, 405: not a request of the operation |
//! | one `Host`, and no transfer coding but `chunked` | 400 |
//! | a bearer token that is accepted | 401, or 503 if the tokens are not known |
//! | the rate of the token | 429 |
//! | the media type | 415 |
//! | a permit for the create | 503 |
//!
//! The first three are the same for every operation. Dropshot's router is more lenient than the
//! document ([`Route`]). A proxy that guards `POST /plants` alone would let `//plants` pass, so the
//! service refuses it.

use std::sync::Arc;

use dropshot::{ClientErrorStatusCode, HttpError, RequestInfo};
use http::header::ALLOW;
use plant_store_api::routes::Route;

use crate::http::credentials::token_digest;
use crate::http::framing::{check_host, check_transfer_coding};
use crate::http::known_tokens::{KnownToken, KnownTokens};
use crate::http::media_type::check_media_type;
use crate::http::permits::{Permit, Permits};
use crate::http::refusal::Refusal;

/// Why a request is not admitted.
pub enum NotAdmitted {
    /// The contract has no such method and path. This is Dropshot's own refusal of those.
    NotRouted(Box<HttpError>),
    /// It has a token if the service knows that, also if it has expired.
    Refused { refusal: Refusal, token: Option<Arc<KnownToken>> },
}

/// A create whose body may be read.
pub struct AdmittedCreate {
    pub token: Arc<KnownToken>,
    pub permit: Permit,
}

/// What every operation asks of a head.
pub fn admit(
    route: &Route,
    head: &RequestInfo,
    tokens: &KnownTokens,
) -> Result<Arc<KnownToken>, NotAdmitted> {
    check_route(route, head).map_err(|refusal| NotAdmitted::NotRouted(refusal.into()))?;
    check_host(head)?;
    check_transfer_coding(head.headers())?;
    let token = tokens.find(&token_digest(head.headers())?)?;
    match token.check_expiry() {
        Ok(()) => Ok(token),
        Err(refusal) => Err(NotAdmitted::Refused { refusal, token: Some(token) }),
    }
}

/// What a create asks besides: its rate, the media type, and a permit.
pub fn admit_create(
    head: &RequestInfo,
    token: Arc<KnownToken>,
    permits: &Permits,
) -> Result<AdmittedCreate, NotAdmitted> {
    match check_create(head, &token, permits) {
        Ok(permit) => Ok(AdmittedCreate { token, permit }),
        Err(refusal) => Err(NotAdmitted::Refused { refusal, token: Some(token) }),
    }
}

fn check_create(
    head: &RequestInfo,
    token: &KnownToken,
    permits: &Permits,
) -> Result<Permit, Refusal> {
    token.check_rate()?;
    check_media_type(head.headers())?;
    Ok(permits.take(&token.permits)?)
}

impl From<Refusal> for NotAdmitted {
    /// Refused before its token was accepted.
    fn from(refusal: Refusal) -> Self {
        Self::Refused { refusal, token: None }
    }
}

/// Refuses what is not exactly the operation's method and path.
fn check_route(route: &Route, head: &RequestInfo) -> Result<(), HttpError> {
    if !route.has_path(head.uri().path()) {
        return Err(HttpError::for_not_found(None, "the path is spelled otherwise".into()));
    }
    if *head.method() != route.method {
        let status = ClientErrorStatusCode::METHOD_NOT_ALLOWED;
        let refusal = HttpError::for_client_error_with_status(None, status);
        let allowed = refusal.with_header(ALLOW, route.method.as_str());
        return Err(allowed.expect("a method is a header value"));
    }
    Ok(())
}
