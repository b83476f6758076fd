//! A request whose body nobody has read yet, and the one way to read it.
//!
//! Dropshot's `TypedBody` reads before a handler can look at the credentials, swallows an
//! over-long body to its end, and takes media types that the contract does not name. So the
//! handler gets the request unread; the document still says `NewPlant`, because the description
//! is `TypedBody`'s.
//!
//! Nothing here may be read, not even a `100 Continue` be caused, before [`PlantRequest::read`].

use std::time::Duration;

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtractorMetadata, HttpError,
    RequestContext, ServerContext, TypedBody,
};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, Request, Version, request::Parts};
use http_body_util::BodyExt;
use hyper::body::Body as _;

use crate::api::NewPlant;
use crate::new_plant;
use crate::refusal::Refusal;

/// What a body may cost.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// The largest body, in bytes.
    pub size: usize,
    /// How long the whole body may take to arrive, from when it is first asked for.
    pub time: Duration,
}

/// The request of the operation: its head, and its body still on the wire.
pub struct PlantRequest {
    head: Parts,
    body: Body,
    /// The end of the body was seen: the connection stands where the next request begins.
    read: bool,
}

#[async_trait]
impl ExclusiveExtractor for PlantRequest {
    /// Takes every request, as it is.
    async fn from_request<Context: ServerContext>(
        _: &RequestContext<Context>,
        request: Request<Body>,
    ) -> Result<Self, HttpError> {
        let (head, body) = request.into_parts();
        let read = body.is_end_stream();
        Ok(Self { head, body, read })
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        TypedBody::<NewPlant>::metadata(content_type)
    }
}

impl PlantRequest {
    /// The header fields.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// Whether the connection has to end with the answer, because part of this request is still
    /// on its way. HTTP/2 ends the stream by itself and knows no such header.
    #[must_use]
    pub fn ends_connection(&self) -> bool {
        !self.read && self.head.version <= Version::HTTP_11
    }

    /// Reads the plant, within the limits.
    ///
    /// # Errors
    ///
    /// The [`Refusal`] that the body earned: 400, 408, 413 or 415.
    pub async fn read(&mut self, limits: BodyLimits) -> Result<NewPlant, Refusal> {
        self.check_media_type()?;
        let body = tokio::time::timeout(limits.time, self.read_body(limits.size))
            .await
            .map_err(|_| Refusal::BodyTimeout(limits.time))??;
        Ok(new_plant::read(&body)?)
    }

    /// RFC 9110, section 8.3: one media type, its name in any case. RFC 8259 gives
    /// `application/json` no parameters, so those that come are without effect.
    fn check_media_type(&self) -> Result<(), Refusal> {
        let mut types = self.head.headers.get_all(CONTENT_TYPE).iter();
        let (Some(media_type), None) = (types.next(), types.next()) else {
            return Err(Refusal::NotJsonMediaType);
        };
        let essence = media_type.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
        if !essence.trim_ascii().eq_ignore_ascii_case(b"application/json") {
            return Err(Refusal::NotJsonMediaType);
        }
        if self.head.headers.contains_key(CONTENT_ENCODING) {
            return Err(Refusal::ContentCoding);
        }
        Ok(())
    }

    async fn read_body(&mut self, limit: usize) -> Result<Vec<u8>, Refusal> {
        let too_large = Refusal::BodyTooLarge { limit };
        if usize::try_from(self.body.size_hint().lower()).is_ok_and(|declared| declared > limit) {
            return Err(too_large);
        }
        // Grown by what arrives, not by what was declared: a promise costs no memory. Copied, so
        // that a body in many small chunks does not keep a network buffer alive for each.
        let mut bytes = Vec::new();
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|_| Refusal::BrokenBody)?;
            let Ok(data) = frame.into_data() else { continue };
            if data.len() > limit - bytes.len() {
                return Err(too_large);
            }
            bytes.extend_from_slice(&data);
        }
        self.read = true;
        Ok(bytes)
    }
}
