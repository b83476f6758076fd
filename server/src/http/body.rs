//! The body of a request, read once the token is accepted and the create has a place.
//!
//! Before [`PlantBody::read`] nothing may wait for a byte of the body, because that makes hyper send
//! `100 Continue`.

use std::pin::pin;
use std::time::Duration;

use dropshot::Body;
use futures::FutureExt;
use http::Version;
use http::header::EXPECT;
use http::request::Parts;
use http_body_util::BodyExt;
use hyper::body::Body as _;

use crate::http::answer::Refusal;

/// The limits of each body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// The largest body, in bytes.
    pub size: usize,
    /// How long a whole body may take to arrive, from the moment when the service begins to read
    /// it.
    pub time: Duration,
}

/// A body, still on the wire.
pub struct PlantBody {
    body: Body,
    version: Version,
    /// Whether the client sends it only after a `100 Continue`.
    awaits_continue: bool,
    /// Whether the body was read to its end, so that the next request can be read.
    read: bool,
}

impl PlantBody {
    /// The body of a request with that head.
    pub fn new(head: &Parts, body: Body) -> Self {
        let (version, read) = (head.version, body.is_end_stream());
        let awaits_continue = head.headers.contains_key(EXPECT);
        Self { body, version, awaits_continue, read }
    }

    /// Whether the connection has to close after the answer, because part of this request is still
    /// unread. HTTP/2 closes the stream by itself and has no such header.
    pub fn is_unread(&self) -> bool {
        !self.read && self.is_http1()
    }

    /// Whether the requests of the connection are answered one after the other.
    pub fn is_http1(&self) -> bool {
        self.version <= Version::HTTP_11
    }

    /// Drops what hyper has read of the body: it reads a first piece with the head. If that is the
    /// whole body, the connection goes on after a refusal. This makes hyper read nothing. If the
    /// client waits for `100 Continue` nothing is read yet, and hyper would ask for it.
    pub fn drop_what_has_come(&mut self) {
        if self.is_unread() && !self.awaits_continue {
            let _ = self.body.frame().now_or_never();
            self.read = self.body.is_end_stream();
        }
    }

    /// Reads the bytes of the body.
    ///
    /// # Errors
    ///
    /// 400, 408 or 413.
    pub async fn read(&mut self, limits: &BodyLimits) -> Result<Vec<u8>, Refusal> {
        let mut read = pin!(self.read_up_to(limits.size));
        // A small body has come with the head, and needs no timer.
        if let Some(read) = read.as_mut().now_or_never() {
            return read;
        }
        let read = tokio::time::timeout(limits.time, read);
        read.await.map_err(|_| Refusal::BodyTimeout(limits.time))?
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
        self.read = true;
        Ok(bytes)
    }
}
