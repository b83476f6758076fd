//! Reads a body within its limits.
//!
//! Before [`UnreadBody::read`], nothing may wait for a byte of the body, because waiting makes
//! hyper send `100 Continue`.

use dropshot::Body;
use futures::FutureExt;
use http::Version;
use http::header::EXPECT;
use http::request::Parts;
use http_body_util::BodyExt;
use hyper::body::Body as _;

use crate::http::limits::Limits;
use crate::http::refusal::Refusal;

/// A body of which at least a part has not been read yet.
pub struct UnreadBody {
    body: Body,
    version: Version,
    /// Whether the client waits for `100 Continue` before it sends the body.
    awaits_continue: bool,
    /// Whether the body has been read to its end.
    is_read: bool,
}

impl UnreadBody {
    /// Creates the unread body of a request with this head.
    pub fn new(head: &Parts, body: Body) -> Self {
        let awaits_continue = head.headers.contains_key(EXPECT);
        Self { body, version: head.version, awaits_continue, is_read: false }
    }

    /// Reads the whole body.
    ///
    /// # Errors
    ///
    /// `error` 408 or 413, or 400 if the body is incomplete.
    pub async fn read(&mut self, limits: &Limits) -> Result<Vec<u8>, Refusal> {
        let in_time = tokio::time::timeout(limits.body_timeout, self.read_up_to(limits.max_body));
        in_time.await.map_err(|_| Refusal::BodyTimeout(limits.body_timeout))?
    }

    async fn read_up_to(&mut self, limit: usize) -> Result<Vec<u8>, Refusal> {
        let too_large = Refusal::BodyTooLarge { limit };
        let declared = usize::try_from(self.body.size_hint().lower()).unwrap_or(usize::MAX);
        if declared > limit {
            return Err(too_large);
        }
        // Untouched capacity takes no memory. The bytes are copied, because otherwise each of many
        // small chunks would keep a network buffer alive.
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

    /// Drops the part of the body that arrived with the head. Call this before a refusal.
    ///
    /// hyper reads the first part of a body together with the head. If that part is the whole body,
    /// the connection stays open. If the client waits for `100 Continue`, nothing has been read,
    /// and reading would make hyper send it.
    pub fn drop_received(&mut self) {
        if !self.is_read && !self.awaits_continue && self.version <= Version::HTTP_11 {
            let _ = self.body.frame().now_or_never();
        }
    }

    /// Returns whether the connection must be closed after a refusal, because part of the body is
    /// unread. HTTP/2 only closes the stream and has no `Connection` header.
    pub fn must_close_connection(&self) -> bool {
        !self.is_read && self.version <= Version::HTTP_11 && !self.body.is_end_stream()
    }
}
