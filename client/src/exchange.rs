//! One request and its response. Sends a request once, and reads the body of a refusal.

use reqwest::header::HeaderMap;
use reqwest::{Request, Response, ResponseBuilderExt, StatusCode, Url};

use crate::failure::{Failure, UnexpectedBody};
use crate::types;

/// A successful response, or why the request failed.
pub(crate) type SendResult = Result<Response, Box<SendError>>;

/// A request that was sent and failed.
pub(crate) struct SendError {
    pub failure: Failure,
    /// The result for the generated client.
    pub result: reqwest::Result<Response>,
}

/// How many bytes of the body of a refusal are read. A refusal of the contract has less than 1 KB.
const LARGEST_REFUSAL: usize = 64 * 1024;

/// Sends a request once. Reads the body of a refusal, because the body says whether the request may
/// be retried.
pub(crate) async fn send(http: &reqwest::Client, request: Request) -> SendResult {
    let mut response = http.execute(request).await.map_err(no_response)?;
    if response.status().is_success() {
        return Ok(response);
    }
    let parts = Parts::of(&response);
    let mut body = Vec::new();
    while body.len() < LARGEST_REFUSAL
        && let Some(chunk) = response.chunk().await.map_err(no_response)?
    {
        body.extend_from_slice(&chunk);
    }
    Err(Box::new(match serde_json::from_slice(&body) {
        Ok(refusal) if parts.status == StatusCode::BAD_REQUEST => parts.refusal(refusal),
        _ => {
            let response = parts.unexpected(&UnexpectedBody(body));
            SendError {
                failure: Failure::from_unexpected_response(&response),
                result: Ok(response),
            }
        }
    }))
}

fn no_response(error: reqwest::Error) -> Box<SendError> {
    Box::new(SendError { failure: Failure::from_reqwest(&error), result: Err(error) })
}

impl SendError {
    /// Adds a reason to the message of the refusal.
    pub(crate) fn because(self, reason: &str) -> Self {
        match (self.failure.refusal().cloned(), &self.result) {
            (Some(types::Error { error, message }), Ok(response)) => {
                let message = format!("{message}; {reason}");
                Parts::of(response).refusal(types::Error { error, message })
            }
            _ => self,
        }
    }
}

/// A response without its body.
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

    fn refusal(self, refusal: types::Error) -> SendError {
        let body = serde_json::to_vec(&refusal).expect("a number and a text are JSON");
        let failure = Failure::from_refusal(refusal, self.status, &self.headers);
        SendError { failure, result: Ok(self.with_body(body)) }
    }

    pub(crate) fn unexpected(self, body: &UnexpectedBody) -> Response {
        let mut response = self.with_body(body.0.clone());
        response.extensions_mut().insert(body.clone());
        response
    }

    fn with_body(self, body: Vec<u8>) -> Response {
        let builder = http::Response::builder().status(self.status).url(self.url);
        let mut response = builder.body(body).expect("a status and a URL are valid parts");
        *response.headers_mut() = self.headers;
        response.into()
    }
}
