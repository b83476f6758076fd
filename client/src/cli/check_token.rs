//! `plants check-token`: says whether the service accepts the token, and creates nothing.

use anyhow::Result;
use reqwest::header::CONTENT_TYPE;
use serde_json::json;

use super::connection::Connection;
use super::output::print;
use crate::hooks::send;
use crate::{ClientInfo, ErrorCode, Failure};

/// A body that no service takes: it is no object. The service looks at the token first.
const NO_PLANT: &str = "null";

/// Runs the command. Fails if the token is refused, or if it cannot be told.
pub async fn check(connection: &Connection) -> Result<()> {
    let client = connection.client()?;
    let request = client.client().post(format!("{}/plants", client.baseurl()));
    let request = request.header(CONTENT_TYPE, "application/json").body(NO_PLANT).build();
    match send(client.client(), request.map_err(|error| Failure::of_connection(&error))?).await {
        Err(refused) if refused.failure.code() != Some(ErrorCode::BadRequest) => {
            Err(refused.failure.into())
        }
        _ => print(&json!({ "accepted": true })),
    }
}
