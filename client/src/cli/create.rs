//! The operation `create_plant` with a body as it is in a file: what is a plant and what is not,
//! the service alone decides.

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;

use super::paths::CREATE_PLANT;
use crate::{Answer, Client, ClientInfo, Error, ResponseValue, types};

/// Sends the body once.
pub async fn create(client: Client, body: Bytes) -> Answer<types::Plant> {
    let request = client.client().post(format!("{}{CREATE_PLANT}", client.baseurl()));
    let json = request.header(CONTENT_TYPE, "application/json").body(body);
    let response = json.send().await?;
    match response.status() {
        StatusCode::OK => ResponseValue::from_response(response).await,
        StatusCode::BAD_REQUEST => {
            Err(Error::ErrorResponse(ResponseValue::from_response(response).await?))
        }
        _ => Err(Error::UnexpectedResponse(response)),
    }
}
