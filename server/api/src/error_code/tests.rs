use dropshot::ClientErrorStatusCode;

use super::*;

#[test]
fn dropshot_refusal_is_a_400_of_the_contract() {
    let refusal = HttpError::for_client_error_with_status(None, ClientErrorStatusCode::CONFLICT);
    let error = Error::from(refusal);
    assert_eq!(error.status_code(), ErrorStatusCode::BAD_REQUEST);
    assert_eq!(error.to_string(), "Conflict (409)");
}
