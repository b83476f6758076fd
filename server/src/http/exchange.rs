//! A request from its head to its answer: what every operation does alike.
//!
//! An operation begins an exchange, does its own work with it, and finishes it. The record and the
//! metrics of every request are made here.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use dropshot::{HttpCodedResponse, HttpError, RequestContext, RequestInfo};
use http::{StatusCode, Version};
use plant_store_api::answer::{Answer, Content, JsonText};
use plant_store_api::routes::Route;
use plant_store_store::Guard;
use slog::{debug, info};

use crate::http::access_record::{AccessRecord, NotRoutedRecord};
use crate::http::admission::{NotAdmitted, admit};
use crate::http::answer::{close_connection, to_refusal};
use crate::http::body::RequestBody;
use crate::http::fairness::wait_before_refusal;
use crate::http::known_tokens::KnownToken;
use crate::http::refusal::Refusal;
use crate::http::service::Service;

/// What is kept of a request until its answer, besides its body.
pub struct Exchange {
    pub service: Arc<Service>,
    route: &'static Route,
    version: Version,
    request_id: String,
    remote_addr: SocketAddr,
    started: Instant,
    /// For the record.
    token: Option<Arc<KnownToken>>,
}

/// What an operation answers with: a 200.
pub struct Success<T> {
    pub text: JsonText<T>,
    /// Given back when the client has taken the whole text.
    pub permit: Guard,
}

impl Exchange {
    /// Begins with a request. The head goes back to the caller, who drops it before the body is
    /// read.
    pub fn begin(rqctx: RequestContext<Arc<Service>>) -> (Self, RequestInfo) {
        let service = Arc::clone(rqctx.context());
        let RequestContext { endpoint, request_id, request: head, .. } = rqctx;
        let remote_addr = head.remote_addr();
        let exchange = Self {
            route: Route::of(&endpoint.operation_id),
            version: head.version(),
            request_id,
            remote_addr,
            started: Instant::now(),
            token: None,
            service,
        };
        (exchange, head)
    }

    /// Does what every operation asks of a head. A request that does not match the operation is
    /// recorded here, because its head is not kept until the answer.
    pub fn admit(&self, head: &RequestInfo) -> Result<Arc<KnownToken>, NotAdmitted> {
        let admitted = admit(self.route, head, &self.service.tokens);
        if let Err(NotAdmitted::NotRouted(refusal)) = &admitted {
            debug!(self.service.log, "request completed"; NotRoutedRecord {
                request_id: &self.request_id,
                remote_addr: self.remote_addr,
                head,
                refusal,
            });
        }
        admitted
    }

    /// Notes the token for the record.
    pub fn note(&mut self, token: &Arc<KnownToken>) {
        self.token = Some(Arc::clone(token));
    }

    /// Waits until a request that is not admitted may be answered: then call [`Self::turn_away`].
    pub async fn wait_to_turn_away(&self, not_admitted: &NotAdmitted) {
        wait_before_refusal(not_admitted, self.version).await;
    }

    /// The answer to a request that is not admitted.
    pub fn turn_away<B, T: Content>(
        mut self,
        not_admitted: NotAdmitted,
        body: RequestBody<B>,
    ) -> Answer<T> {
        match not_admitted {
            NotAdmitted::NotRouted(refusal) => self.not_routed(*refusal, body),
            NotAdmitted::Refused { refusal, token } => {
                self.token = token;
                self.refuse(&refusal, body)
            }
        }
    }

    /// The answer of the operation. Counts the request and records it.
    pub fn finish<B, T: Content>(
        self,
        result: Result<Success<T>, Refusal>,
        body: RequestBody<B>,
    ) -> Answer<T> {
        match result {
            Ok(success) => self.succeed(success, &body),
            Err(refusal) => self.refuse(&refusal, body),
        }
    }

    fn succeed<B, T: Content>(self, success: Success<T>, body: &RequestBody<B>) -> Answer<T> {
        self.record(Answer::<T>::STATUS_CODE, None, body.ignored());
        Answer::ok(success.text, success.permit)
    }

    fn refuse<B, T: Content>(self, refusal: &Refusal, mut body: RequestBody<B>) -> Answer<T> {
        let mut answer = to_refusal(refusal);
        body.drop_what_has_come();
        if body.must_close_connection() || refusal.ends_connection() {
            close_connection(&mut answer);
        }
        self.record(answer.status(), Some(refusal), body.ignored());
        answer
    }

    /// Dropshot's answer to a request that does not match the operation: the contract says nothing
    /// of such requests.
    fn not_routed<B, T: Content>(self, refusal: HttpError, mut body: RequestBody<B>) -> Answer<T> {
        let mut answer = Answer::not_routed(refusal, &self.request_id);
        body.drop_what_has_come();
        if body.must_close_connection() {
            close_connection(&mut answer);
        }
        answer
    }

    fn record(&self, status: StatusCode, refusal: Option<&Refusal>, ignored: &[String]) {
        let service = &self.service;
        let latency = self.started.elapsed();
        service.metrics.answered(refusal.map(Refusal::code), latency);
        let record = AccessRecord {
            request_id: &self.request_id,
            remote_addr: self.remote_addr,
            method: &self.route.method,
            status,
            refusal,
            token: self.token.as_ref().map(|token| token.stored.name.as_str()),
            ignored,
            latency,
        };
        // The records of strangers could fill the disk that holds the log.
        if self.token.is_some() {
            info!(service.log, "request completed"; record);
        } else {
            debug!(service.log, "request completed"; record);
        }
    }
}
