//! The bytes of a body, read within their limits.
//!
//! Before [`UnreadBody::read`] nothing may wait for a byte of the body, because that makes hyper
//! send `100 Continue`.

use std::pin::pin;
use std::time::Duration;

use dropshot::Body;
use futures::FutureExt;
use http::Version;
use http::header::EXPECT;
use http::request::Parts;
use http_body_util::BodyExt;
use hyper::body::Body as _;

use crate::http::refusal::Refusal;

/// The limits of each body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// The largest body, in bytes.
    pub size: usize,
    /// How long a whole body may take to arrive, from the moment when the service begins to read
    /// it.
    pub time: Duration,
}

/// A body that is still on the wire, at least in part.
pub struct UnreadBody {
    body: Body,
    version: Version,
    /// Whether the client sends it only after a `100 Continue`.
    awaits_continue: bool,
    /// Whether it was read to its end.
    is_read: bool,
}

impl UnreadBody {
    /// The body of a request with that head.
    pub fn new(head: &Parts, body: Body) -> Self {
        let awaits_continue = head.headers.contains_key(EXPECT);
        Self { body, version: head.version, awaits_continue, is_read: false }
    }

    /// Reads the whole body.
    ///
    /// # Errors
    ///
    /// `error` 408 or 413, or 400 if the body breaks off.
    pub async fn read(&mut self, limits: &BodyLimits) -> Result<Vec<u8>, Refusal> {
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
        let declared = usize::try_from(self.body.size_hint().lower()).unwrap_or(usize::MAX);
        if declared > limit {
            return Err(too_large);
        }
        // Untouched capacity costs no memory. The bytes are copied, because many small chunks would
        // each keep a network buffer alive.
        let mut bytes = Vec::with_capacity(declared);
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|_| Refusal::BrokenBody)?;
            let Ok(data) = frame.into_data() else { continue };
            if data.len() > limit - bytes.len() {
                return Err(too_large);
            }
            bytes.extend_from_slice(&data);
        }
        self.is_read = true;
        Ok(bytes)
    }

    /// Drops what of the body has come with the head, before a refusal.
    ///
    /// hyper reads a first piece of a body with the head. If that piece is the whole body, the
    /// connection goes on. If the client waits for a `100 Continue`, nothing is read yet, and hyper
    /// would send it.
    pub fn drop_received(&mut self) {
        if !self.is_read && !self.awaits_continue && self.version <= Version::HTTP_11 {
            let _ = self.body.frame().now_or_never();
        }
    }

    /// Whether the connection has to close after a refusal, because a part of this body is still
    /// unread. HTTP/2 closes the stream alone, and has no such header.
    pub fn must_close_connection(&self) -> bool {
        !self.is_read && self.version <= Version::HTTP_11 && !self.body.is_end_stream()
    }
}
