//! `plants check-token`: says whether the service accepts the token, and creates nothing.

use anyhow::Result;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde::de::Error as _;
use serde_json::json;

use super::connection::Connection;
use super::output::print;
use crate::exchange::send;
use crate::{ClientInfo, Error, ErrorCode, Failure};

/// A body that no service takes: it is no object. The service looks at the token first, and then at
/// the rate of the token.
const NO_PLANT: &str = "null";

/// Runs the command. Fails if the token is refused, or if it cannot be told.
pub async fn check(connection: &Connection) -> Result<()> {
    let client = connection.client()?;
    let request = client.client().post(format!("{}/plants", client.baseurl()));
    let request = request.header(CONTENT_TYPE, "application/json").body(NO_PLANT).build();
    let request = request.map_err(|error| Failure::of_connection(&error))?;
    let failure = match send(client.client(), request).await {
        Err(refused) => refused.failure,
        Ok(answer) => of_success(answer).await,
    };
    match failure.code() {
        Some(ErrorCode::BadRequest | ErrorCode::TooManyRequests) => {
            print(&json!({ "accepted": true }))
        }
        _ => Err(failure.into()),
    }
}

/// A success is the answer of something else, such as a login page.
async fn of_success(answer: Response) -> Failure {
    let cause = serde_json::Error::custom("it takes what is no plant");
    Failure::from(match answer.bytes().await {
        Ok(body) => Error::InvalidResponsePayload(body, cause),
        Err(error) => Error::ResponseBodyError(error),
    })
}
