//! The contract: one operation, three types.
//!
//! Dropshot turns this file into the OpenAPI document ([`crate::document`] gives it its last
//! touches), and the doc comments below into its descriptions: they speak to the readers of the
//! published document. Change something here and `cargo xtask generate` carries it into
//! `openapi/` and `client/`.
//!
//! Nothing here knows how a request is read, who may send it or where a plant is kept.

use dropshot::{EndpointTagPolicy, ErrorStatusCode, HttpError, HttpResponseError, RequestContext};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::request::PlantRequest;

/// The one API of the service, as a trait: [`crate::service`] implements it, and the document is
/// made from the trait alone, with no server in sight.
#[dropshot::api_description {
    tag_config = {
        policy = EndpointTagPolicy::ExactlyOne,
        tags = { "plants" = { description = "The plants of the store." } },
    },
}]
pub trait PlantStoreApi {
    /// What the implementation keeps between requests.
    type Context;

    /// Create a plant
    ///
    /// Creates a new plant in the store.
    ///
    /// The answer is sent once the plant is durable. The operation is safe to repeat: the same
    /// `id` with the same `name` and `tag` answers 200 again, the same `id` with anything else
    /// is refused with `error` 409 and leaves the first plant as it is.
    #[endpoint {
        method = POST,
        path = "/plants",
        tags = ["plants"],
    }]
    async fn create_plant(
        rqctx: RequestContext<Self::Context>,
        request: PlantRequest,
    ) -> Result<Answer, Error>;
}

/// A plant of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(example = "Plant::example")]
pub struct Plant {
    /// Name of the plant.
    pub name: String,
    /// Tag that specifies the type of the plant.
    // An absent tag is absent: `with` keeps `nullable` out of the document, `default` keeps the
    // member out of `required`, `skip_serializing_if` keeps `default: null` away.
    #[schemars(with = "String")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// A plant to create: a plant and its identification number. Unknown members are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(example = "NewPlant::example")]
pub struct NewPlant {
    /// Identification number of the plant, chosen by the client: any integer of 64 bits.
    pub id: i64,
    /// Name of the plant.
    pub name: String,
    /// Tag that specifies the type of the plant. Absent or a string, never null.
    #[schemars(with = "String")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(example = "Error::example")]
pub struct Error {
    /// The HTTP status code (RFC 9110) that names the failure. 400: the body is not a NewPlant;
    /// 401: no valid bearer token; 408: the body did not arrive in time; 409: the id belongs to
    /// a different plant; 413: the body is too large; 415: the body is not plain
    /// application/json; 500: a fault of the service; 503: the service cannot take the plant
    /// now, send it again as it is.
    pub error: i32,
    /// What happened and what to do about it, for people. The wording may change.
    pub message: String,
}

impl From<NewPlant> for Plant {
    fn from(NewPlant { id: _, name, tag }: NewPlant) -> Self {
        Self { name, tag }
    }
}

impl Plant {
    fn example() -> Self {
        NewPlant::example().into()
    }
}

impl NewPlant {
    fn example() -> Self {
        Self { id: 1, name: "Monstera deliciosa".into(), tag: Some("indoor".into()) }
    }
}

impl Error {
    fn example() -> Self {
        Self { error: 409, message: "plant 1 exists and is a different one".into() }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.error)
    }
}

impl std::error::Error for Error {}

/// What Dropshot itself refuses within the operation. It has nothing to refuse today, because
/// [`PlantRequest`] takes every request as it is; should that change, the contract still holds.
impl From<HttpError> for Error {
    fn from(refusal: HttpError) -> Self {
        Self { error: i32::from(refusal.status_code.as_u16()), message: refusal.external_message }
    }
}

impl HttpResponseError for Error {
    /// Always 400: the contract declares no other failure.
    fn status_code(&self) -> ErrorStatusCode {
        ErrorStatusCode::BAD_REQUEST
    }
}

#[cfg(test)]
mod tests {
    use dropshot::ClientErrorStatusCode;

    use super::*;

    #[test]
    fn a_refusal_of_the_framework_is_one_of_the_contract() {
        let refusal =
            HttpError::for_client_error_with_status(None, ClientErrorStatusCode::CONFLICT);
        let error = Error::from(refusal);
        assert_eq!(error.status_code(), ErrorStatusCode::BAD_REQUEST);
        assert_eq!(error.to_string(), "Conflict (409)");
    }
}
