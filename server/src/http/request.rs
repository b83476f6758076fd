//! The body of a request, and the one way to read it: only after the head was accepted, and within
//! the limits.
//!
//! Before [`PlantBody::read`] nothing may wait for a byte of the body, because that makes hyper send
//! `100 Continue`.

use std::time::Duration;

use dropshot::Body;
use futures::FutureExt;
use http::Version;
use http::header::EXPECT;
use http::request::Parts;
use http_body_util::BodyExt;
use hyper::body::Body as _;

use crate::http::bodies::{Bodies, Create, Reservation};
use crate::http::refusal::Refusal;

/// What the service takes for a request while it waits for its body or its commit, besides the head
/// and the body: its task and its stream.
const TASK: usize = 8 * 1024;

/// How long the refusal of a create past the rate of its token waits.
const PAUSE: Duration = Duration::from_millis(100);

/// The body of a request, still on the wire.
pub struct PlantBody {
    body: Body,
    version: Version,
    /// Whether the client sends it only after a `100 Continue`.
    awaits_continue: bool,
    /// Whether the body was read to its end, so that the next request can be read.
    read: bool,
}

impl PlantBody {
    /// The body of the request that has this head.
    #[must_use]
    pub fn new(head: &Parts, body: Body) -> Self {
        let (version, read) = (head.version, body.is_end_stream());
        let awaits_continue = head.headers.contains_key(EXPECT);
        Self { body, version, awaits_continue, read }
    }

    /// Whether the connection has to close after the answer, because part of this request is still
    /// unread. HTTP/2 closes the stream by itself and has no such header.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        !self.read && self.is_http1()
    }

    /// Whether the requests of the connection are answered one after the other.
    #[must_use]
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

    /// Reads the plant, within the limits. Keep its reservation as long as the plant and its answer.
    /// The bytes of the `head` count, too: Dropshot keeps a copy of it until the answer.
    ///
    /// # Errors
    ///
    /// 400, 408, 413, or 503 if the budget for bodies is used up.
    pub async fn read(
        &mut self,
        head: usize,
        bodies: &Bodies,
    ) -> Result<(Create, Reservation), Refusal> {
        let body = tokio::time::timeout(bodies.time, self.read_bytes(TASK + head, bodies))
            .await
            .map_err(|_| Refusal::BodyTimeout(bodies.time))??;
        bodies.parse(body).await
    }

    /// Reads the bytes of the body, and reserves `head` bytes besides them.
    async fn read_bytes(
        &mut self,
        head: usize,
        bodies: &Bodies,
    ) -> Result<(Vec<u8>, Reservation), Refusal> {
        let limit = bodies.size;
        let too_large = Refusal::BodyTooLarge { limit };
        let declared = usize::try_from(self.body.size_hint().lower()).unwrap_or(usize::MAX);
        if declared > limit {
            return Err(too_large);
        }
        // The declared length is reserved now, or two half-read bodies could block each other.
        let mut reserved = bodies.reserve(head, declared)?;
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

/// Waits before the refusal of a create past the rate of its token. Otherwise clients that do not
/// wait would keep the service busy with refusals. If there is no memory, there is no pause.
pub async fn pause(head: usize, bodies: &Bodies) {
    if let Ok(_reserved) = bodies.reserve(TASK + head, 0) {
        tokio::time::sleep(PAUSE).await;
    }
}
