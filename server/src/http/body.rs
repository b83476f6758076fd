//! The body of a request, read once the token is accepted and the create has a permit.
//!
//! Before [`RequestBody::read`] nothing may wait for a byte of the body, because that makes hyper
//! send `100 Continue`.

use std::pin::pin;
use std::time::Duration;

use dropshot::RequestInfo;
use futures::FutureExt;
use http::Version;
use http::header::EXPECT;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use plant_store_api::request::Unread;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::http::refusal::Refusal;
use crate::http::strict;

/// The limits of each body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// The largest body, in bytes.
    pub size: usize,
    /// How long a whole body may take to arrive, from the moment when the service begins to read
    /// it.
    pub time: Duration,
}

/// A body that the document describes as a `T`, still on the wire.
pub struct RequestBody<T> {
    request: Unread<T>,
    version: Version,
    /// Whether the client sends it only after a `100 Continue`.
    awaits_continue: bool,
    /// Whether it has come to its end, so that the connection can go on with the next request.
    is_at_end: bool,
    /// The first names of members that were ignored.
    ignored: Vec<String>,
}

impl<T> RequestBody<T> {
    /// The body of a request with that head.
    pub fn new(head: &RequestInfo, request: Unread<T>) -> Self {
        Self {
            version: head.version(),
            awaits_continue: head.headers().contains_key(EXPECT),
            is_at_end: request.body.is_end_stream(),
            ignored: Vec::new(),
            request,
        }
    }

    /// Whether the connection has to close after the answer: part of this HTTP/1.1 request is still
    /// unread. HTTP/2 closes the stream alone, and has no such header.
    pub fn must_close_connection(&self) -> bool {
        !self.is_at_end && self.version <= Version::HTTP_11
    }

    /// Drops what hyper has read of the body: it reads a first piece with the head. If that is the
    /// whole body, the connection goes on after a refusal. This makes hyper read nothing. If the
    /// client waits for `100 Continue` nothing is read yet, and hyper would ask for it.
    pub fn drop_what_has_come(&mut self) {
        if self.must_close_connection() && !self.awaits_continue {
            let _ = self.request.body.frame().now_or_never();
            self.is_at_end = self.request.body.is_end_stream();
        }
    }

    /// The first names of members that the body has and its type has not, once it was read.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    async fn read_bytes(&mut self, limits: &BodyLimits) -> Result<Vec<u8>, Refusal> {
        let mut bytes = pin!(self.read_up_to(limits.size));
        // A small body has come with the head, and needs no timer.
        if let Some(small) = bytes.as_mut().now_or_never() {
            return small;
        }
        let in_time = tokio::time::timeout(limits.time, bytes);
        in_time.await.map_err(|_| Refusal::BodyTimeout(limits.time))?
    }

    async fn read_up_to(&mut self, limit: usize) -> Result<Vec<u8>, Refusal> {
        let too_large = Refusal::BodyTooLarge { limit };
        let body = &mut self.request.body;
        let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if declared > limit {
            return Err(too_large);
        }
        // Untouched capacity costs no memory. The bytes are copied, because many small chunks would
        // each keep a network buffer alive.
        let mut bytes = Vec::with_capacity(declared);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Refusal::BrokenBody)?;
            let Ok(data) = frame.into_data() else { continue };
            if data.len() > limit - bytes.len() {
                return Err(too_large);
            }
            bytes.extend_from_slice(&data);
        }
        self.is_at_end = true;
        Ok(bytes)
    }
}

impl<T: DeserializeOwned + JsonSchema> RequestBody<T> {
    /// Reads the body, as what the document describes.
    ///
    /// # Errors
    ///
    /// `error` 400, 408 or 413.
    pub async fn read(&mut self, limits: &BodyLimits) -> Result<T, Refusal> {
        let bytes = self.read_bytes(limits).await?;
        let read = strict::read::<T>(&bytes)?;
        self.ignored = read.ignored;
        Ok(read.value)
    }
}
