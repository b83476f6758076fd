//! A request from its head to its answer: what every operation does alike.
//!
//! An operation begins an exchange, does its own work with it, and finishes it. The record, the
//! metrics, and whether the connection closes are decided here, and nowhere else.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dropshot::{HttpError, RequestContext, RequestInfo};
use plant_store_api::answer::{Answer, Content, JsonText};
use plant_store_api::routes::Route;
use plant_store_listener::requests::InFlight;
use slog::{debug, info};

use crate::http::accepted_tokens::Accepted;
use crate::http::access::Access;
use crate::http::answer::{close_connection, refuse};
use crate::http::body::RequestBody;
use crate::http::refusal::Refusal;
use crate::http::service::Service;

/// How long the refusal of a create past the rate of its token waits. Otherwise clients that do not
/// wait would keep the service busy with refusals.
const PAUSE: Duration = Duration::from_millis(100);

/// How much of a method or a path a record holds, in characters.
const LONGEST: usize = 200;

/// What is kept of a request until its answer, besides its body.
pub struct Exchange {
    pub service: Arc<Service>,
    /// The operation's route.
    pub route: &'static Route,
    /// The token, once it is accepted, or was until it expired.
    pub token: Option<Arc<Accepted>>,
    request_id: String,
    remote_addr: SocketAddr,
    started: Instant,
    in_flight: InFlight,
}

/// What an operation answers with: a 200.
pub struct Success<T, H> {
    pub text: JsonText<T>,
    /// Dropped when the socket has taken the whole text.
    pub held: H,
}

impl Exchange {
    /// Begins with the head of a request.
    pub fn begin(rqctx: &RequestContext<Arc<Service>>) -> Self {
        let service = Arc::clone(rqctx.context());
        let remote_addr = rqctx.request.remote_addr();
        Self {
            route: Route::of(&rqctx.endpoint.operation_id),
            token: None,
            request_id: rqctx.request_id.clone(),
            remote_addr,
            started: Instant::now(),
            in_flight: service.connections.request(remote_addr),
            service,
        }
    }

    /// The request is admitted with this token. A request that is refused by its head is no activity of
    /// its connection.
    pub fn accepted(&mut self, token: Arc<Accepted>) {
        self.token = Some(token);
        self.in_flight.admit();
    }

    /// The answer to a request that is none of the operation, as Dropshot gives it: the contract says
    /// nothing of such requests.
    pub fn not_routed<B, T: Content>(
        self,
        refusal: HttpError,
        mut body: RequestBody<B>,
    ) -> Answer<T> {
        let mut answer = Answer::not_routed(refusal, &self.request_id);
        body.drop_what_has_come();
        if body.is_unread() {
            close_connection(&mut answer);
        }
        answer
    }

    /// Says in the log that a request is none of the operation. Its head is not kept until the answer.
    pub fn log_other_route(&self, head: &RequestInfo, refusal: &HttpError) {
        debug!(self.service.log, "request completed";
            "req_id" => &self.request_id, "remote_addr" => %self.remote_addr,
            "method" => format_args!("{:.LONGEST$}", head.method().as_str()),
            "path" => format_args!("{:.LONGEST$}", head.uri().path()),
            "status" => refusal.status_code.as_u16(), "cause" => &refusal.internal_message);
    }

    /// Makes the answer, counts the request and records it.
    pub fn finish<B, T: Content, H: Send + Sync + 'static>(
        self,
        result: Result<Success<T, H>, Refusal>,
        mut body: RequestBody<B>,
    ) -> Answer<T> {
        let service = &self.service;
        let (mut answer, refusal) = match result {
            Ok(success) => {
                // The listener closes the connection if the client does not take the answer.
                let held = (success.held, self.in_flight.answer());
                (Answer::ok(success.text, held), None)
            }
            Err(refusal) => (refuse(&refusal), Some(refusal)),
        };
        if refusal.is_some() {
            body.drop_what_has_come();
        }
        if body.is_unread() || refusal.as_ref().is_some_and(Refusal::ends_connection) {
            close_connection(&mut answer);
        }
        let latency = self.started.elapsed();
        service.metrics.answered(refusal.as_ref().map(Refusal::code), latency);
        let access = Access {
            request_id: &self.request_id,
            remote_addr: self.remote_addr,
            method: &self.route.method,
            status: answer.status(),
            refusal: refusal.as_ref(),
            token: self.token.as_ref().map(|token| token.stored.name.as_str()),
            ignored: body.ignored(),
            latency,
        };
        // The records of strangers could fill the disk that holds the log.
        if self.token.is_some() {
            info!(service.log, "request completed"; access);
        } else {
            debug!(service.log, "request completed"; access);
        }
        answer
    }
}

/// Waits before a refusal that the head alone decides.
pub async fn hold_back<B>(refusal: &Refusal, body: &RequestBody<B>) {
    if let Refusal::TooManyCreates { .. } = refusal {
        tokio::time::sleep(PAUSE).await;
    } else {
        give_way(body).await;
    }
}

/// Ends the turn of this connection before an answer that waited for nothing. Otherwise hyper would
/// answer up to 16 pipelined requests of one connection before the others have their turn. A request
/// of HTTP/2 has its own task, which would only keep its memory for longer.
pub async fn give_way<B>(body: &RequestBody<B>) {
    if body.is_http1() {
        tokio::task::yield_now().await;
    }
}
