//! A request whose body is unread, and the one way to read it.
//!
//! Dropshot's `TypedBody` reads the body before a handler can check the credentials, reads a body
//! over the limit to its end, and takes media types that the contract does not name. So the handler
//! gets the request with its body unread. The document still says `NewPlant`, because the metadata
//! is `TypedBody`'s.
//!
//! Before [`PlantRequest::read`] nothing may read a byte of the body, because the first read makes
//! hyper send `100 Continue`.

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtractorMetadata, HttpError,
    RequestContext, ServerContext, TypedBody,
};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{Request, Version, request::Parts};
use http_body_util::BodyExt;
use hyper::body::Body as _;

use crate::http::bodies::{Bodies, Reservation};
use crate::http::refusal::Refusal;
use crate::types::NewPlant;

/// The request of the operation: its head, and its body still on the wire.
pub struct PlantRequest {
    head: Parts,
    body: Body,
    /// Whether the body was read to its end, so that the next request can be read.
    read: bool,
}

#[async_trait]
impl ExclusiveExtractor for PlantRequest {
    /// Takes every request as it is.
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
    /// All but the body.
    #[must_use]
    pub fn head(&self) -> &Parts {
        &self.head
    }

    /// Whether the connection has to close after the answer, because part of this request is still
    /// unread. HTTP/2 closes the stream by itself and has no such header.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        !self.read && self.head.version <= Version::HTTP_11
    }

    /// Reads the plant, within the limits. Its reservation must live as long as the plant.
    ///
    /// # Errors
    ///
    /// 400, 408, 413, 415, or 503 if the budget for bodies is used up.
    pub async fn read(&mut self, bodies: &Bodies) -> Result<(NewPlant, Reservation), Refusal> {
        self.check_media_type()?;
        let body = tokio::time::timeout(bodies.time, self.read_body(bodies))
            .await
            .map_err(|_| Refusal::BodyTimeout(bodies.time))??;
        bodies.parse(body).await
    }

    /// RFC 9110, section 8.3: one media type, its name in any case. RFC 8259 defines no parameters
    /// of `application/json`, so they are ignored.
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

    async fn read_body(&mut self, bodies: &Bodies) -> Result<(Vec<u8>, Reservation), Refusal> {
        let limit = bodies.size;
        let too_large = Refusal::BodyTooLarge { limit };
        let declared = usize::try_from(self.body.size_hint().lower()).unwrap_or(usize::MAX);
        if declared > limit {
            return Err(too_large);
        }
        // The declared length is reserved now, or two half-read bodies could block each other.
        let mut reserved = bodies.reserve(declared)?;
        // Untouched capacity costs no memory. The bytes are copied, because many small chunks would
        // each keep a network buffer alive.
        let mut bytes = Vec::with_capacity(declared);
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|_| Refusal::BrokenBody)?;
            let Ok(data) = frame.into_data() else { continue };
            if data.len() > limit - bytes.len() {
                return Err(too_large);
            }
            reserved.grow_to(bytes.len() + data.len())?;
            bytes.extend_from_slice(&data);
        }
        self.read = true;
        Ok((bytes, reserved))
    }
}
