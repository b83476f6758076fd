use plant_store_api::types::NewPlant;

use super::*;
use crate::http::json;

/// The published document contains an example message for each value of `error`.
#[test]
fn examples_in_the_document_are_messages_of_the_service() {
    let per_second = NonZeroU32::new(50).expect("50 is not 0");
    let body = json::parse::<NewPlant>(br#"{"id":1}"#);
    let refusals = [
        body.err().expect("no name"),
        Refusal::TokenNotAccepted,
        Refusal::BodyTimeout(Duration::from_secs(10)),
        Refusal::Conflict { id: 1 },
        Refusal::BodyTooLarge { limit: 64 * 1024 },
        Refusal::NotJsonMediaType,
        Refusal::TooManyRequests { limit: per_second },
        Refusal::Fault(Arc::new(WriteError::Unavailable("a disk".into()))),
        Refusal::NoPermit { cause: "others" },
    ];
    for code in ErrorCode::ALL {
        let messages = refusals.iter().filter(|refusal| refusal.code() == *code);
        let messages: Vec<_> = messages.map(ToString::to_string).collect();
        assert_eq!(messages, [code.example()], "{code:?}");
    }
}
