//! One request and its answer: a request is sent once, and the body of a refusal is read.

use reqwest::header::HeaderMap;
use reqwest::{Request, Response, ResponseBuilderExt, StatusCode, Url};

use crate::failure::{Failure, Foreign};
use crate::types;

/// An answer of success, or why it was none.
pub(crate) type Sent = Result<Response, Box<Unsuccessful>>;

/// A request that was sent and did not succeed.
pub(crate) struct Unsuccessful {
    pub failure: Failure,
    /// What the generated client gets.
    pub answer: reqwest::Result<Response>,
}

/// How much of the body of a refusal is read, in bytes. One of the contract has less than 1 KB.
const LARGEST_REFUSAL: usize = 64 * 1024;

/// Sends a request once. The body of a refusal is read here: it says whether the request may be
/// repeated.
pub(crate) async fn send(http: &reqwest::Client, request: Request) -> Sent {
    let mut response = http.execute(request).await.map_err(without_answer)?;
    if response.status().is_success() {
        return Ok(response);
    }
    let parts = Parts::of(&response);
    let mut body = Vec::new();
    while body.len() < LARGEST_REFUSAL
        && let Some(chunk) = response.chunk().await.map_err(without_answer)?
    {
        body.extend_from_slice(&chunk);
    }
    Err(Box::new(match serde_json::from_slice(&body) {
        Ok(refusal) if parts.status == StatusCode::BAD_REQUEST => parts.refused(refusal),
        _ => {
            let answer = parts.foreign(&Foreign(body));
            Unsuccessful { failure: Failure::of_foreign(&answer), answer: Ok(answer) }
        }
    }))
}

fn without_answer(error: reqwest::Error) -> Box<Unsuccessful> {
    Box::new(Unsuccessful { failure: Failure::of_connection(&error), answer: Err(error) })
}

impl Unsuccessful {
    /// The same refusal, whose message says this too.
    pub(crate) fn because(self, why: &str) -> Self {
        match (self.failure.refusal().cloned(), &self.answer) {
            (Some(types::Error { error, message }), Ok(answer)) => {
                let message = format!("{message}; {why}");
                Parts::of(answer).refused(types::Error { error, message })
            }
            _ => self,
        }
    }
}

/// An answer without its body.
pub(crate) struct Parts {
    status: StatusCode,
    url: Url,
    headers: HeaderMap,
}

impl Parts {
    pub(crate) fn of(response: &Response) -> Self {
        Self {
            status: response.status(),
            url: response.url().clone(),
            headers: response.headers().clone(),
        }
    }

    fn refused(self, refusal: types::Error) -> Unsuccessful {
        let body = serde_json::to_vec(&refusal).expect("a number and a text are JSON");
        let failure = Failure::of_refusal(refusal, self.status, &self.headers);
        Unsuccessful { failure, answer: Ok(self.with(body)) }
    }

    pub(crate) fn foreign(self, foreign: &Foreign) -> Response {
        let mut answer = self.with(foreign.0.clone());
        answer.extensions_mut().insert(foreign.clone());
        answer
    }

    fn with(self, body: Vec<u8>) -> Response {
        let builder = http::Response::builder().status(self.status).url(self.url);
        let mut answer = builder.body(body).expect("a status and a URL are no invalid header");
        *answer.headers_mut() = self.headers;
        answer.into()
    }
}
