//! `plants check-token`: asks the service whether it accepts the token. It must never create a
//! plant.

use anyhow::Result;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde::de::Error as _;
use serde_json::json;

use super::connection::Connection;
use super::output::print;
use crate::exchange::send;
use crate::{ClientInfo, Error, ErrorCode, Failure};

/// A body that every service refuses, because it is not an object. The service checks the token
/// before the body.
const NOT_A_PLANT: &str = "null";

/// Runs the command. Fails if the service refuses the token, or if the response is inconclusive.
pub async fn check(connection: &Connection) -> Result<()> {
    let client = connection.client()?;
    let request = client.client().post(format!("{}/plants", client.baseurl()));
    let request = request.header(CONTENT_TYPE, "application/json").body(NOT_A_PLANT).build();
    let request = request.map_err(|error| Failure::from_reqwest(&error))?;
    let failure = match send(client.client(), request).await {
        Err(error) => error.failure,
        Ok(response) => unexpected_success(response).await,
    };
    match failure.code() {
        Some(ErrorCode::BadRequest) => print(&json!({ "accepted": true })),
        _ => Err(failure.into()),
    }
}

/// The failure of a request that succeeded: the response came from something else, such as a login
/// page.
async fn unexpected_success(response: Response) -> Failure {
    let cause = serde_json::Error::custom("it accepts a body that is not a plant");
    Failure::from(match response.bytes().await {
        Ok(body) => Error::InvalidResponsePayload(body, cause),
        Err(error) => Error::ResponseBodyError(error),
    })
}
