//! Waits before answers that the head alone decides, so that other clients have their turn.

use std::time::Duration;

use http::Version;

use crate::http::admission::NotAdmitted;
use crate::http::refusal::Refusal;

/// How long the refusal of a create past the rate of its token waits. Otherwise clients that do not
/// wait would keep the service busy with refusals.
const PAUSE_PAST_RATE: Duration = Duration::from_millis(100);

/// Waits before the answer to a request of that version which is not admitted.
///
/// Without the yield, hyper would answer up to 16 pipelined requests of one HTTP/1.1
/// connection before the others have theirs. A request of HTTP/2 has its own task, which would only
/// keep its memory for longer.
pub async fn wait_before_refusal(not_admitted: &NotAdmitted, version: Version) {
    if let NotAdmitted::Refused { refusal: Refusal::TooManyCreates { .. }, .. } = not_admitted {
        tokio::time::sleep(PAUSE_PAST_RATE).await;
    } else if version <= Version::HTTP_11 {
        tokio::task::yield_now().await;
    }
}
