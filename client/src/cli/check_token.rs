//! `plants check-token`: says whether the service accepts the token, and creates nothing.

use anyhow::Result;
use bytes::Bytes;
use serde_json::json;

use super::connection::Connection;
use super::create::create;
use super::output::print;
use crate::{Error, ErrorCode, types};

/// A body that no service takes: it is no object. The service looks at the token first.
const NO_PLANT: &[u8] = b"null";

/// Runs the command. Fails if the token is refused, or if it cannot be told.
pub async fn check(connection: &Connection) -> Result<()> {
    let answer = create(connection.client()?, Bytes::from_static(NO_PLANT)).await;
    match answer {
        Err(error) if !is_about_the_body(&error) => Err(error.into()),
        _ => {
            print(&json!({ "accepted": true }));
            Ok(())
        }
    }
}

fn is_about_the_body(error: &Error<types::Error>) -> bool {
    let Error::ErrorResponse(refusal) = error else { return false };
    ErrorCode::from(refusal.error) == ErrorCode::BadRequest
}
