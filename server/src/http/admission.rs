//! What the head of a request decides, in this order, before one byte of its body is read:
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
//! The first three are the same for every operation. Dropshot's router also takes `post`, `//plants`,
//! `/plants/` and `/%70lants` for `POST /plants`, but a proxy in front of the service may have rules
//! for `POST /plants` alone.

use std::sync::Arc;

use dropshot::{ClientErrorStatusCode, HttpError, RequestInfo};
use http::header::ALLOW;
use plant_store_api::routes::Route;

use crate::http::accepted_tokens::{Accepted, AcceptedTokens};
use crate::http::credentials::bearer_token;
use crate::http::framing::{check_host, check_transfer_coding};
use crate::http::media_type::check_media_type;
use crate::http::permits::{Permit, Permits};
use crate::http::refusal::Refusal;

/// Why a request is not admitted.
pub enum NotAdmitted {
    /// The contract has no such method and path. This is Dropshot's own refusal of those.
    OtherRoute(Box<HttpError>),
    /// It has a token if that is accepted, or was until it expired.
    Refused { refusal: Refusal, token: Option<Arc<Accepted>> },
}

/// What every operation asks of a head.
pub fn admit(
    route: &Route,
    head: &RequestInfo,
    tokens: &AcceptedTokens,
) -> Result<Arc<Accepted>, NotAdmitted> {
    check_route(route, head).map_err(|refusal| NotAdmitted::OtherRoute(refusal.into()))?;
    check_host(head)?;
    check_transfer_coding(head.headers())?;
    let token = tokens.find(&bearer_token(head.headers())?)?;
    match token.check_expiry() {
        Ok(()) => Ok(token),
        Err(refusal) => Err(NotAdmitted::Refused { refusal, token: Some(token) }),
    }
}

/// What a create asks besides: its body may be read with the permit.
pub fn admit_create(
    head: &RequestInfo,
    token: Arc<Accepted>,
    permits: &Permits,
) -> Result<Permit, NotAdmitted> {
    let permit = token
        .check_rate()
        .and_then(|()| check_media_type(head.headers()))
        .and_then(|()| Ok(permits.take(Arc::clone(&token))?));
    permit.map_err(|refusal| NotAdmitted::Refused { refusal, token: Some(token) })
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
