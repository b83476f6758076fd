use super::*;

#[test]
fn cause_is_news_once_until_another_cause_or_a_success_comes() {
    let mut last_cause = LastCause::default();
    assert!(!last_cause.succeeded(), "nothing has failed");
    assert!(last_cause.failed(&"full"));
    assert!(!last_cause.failed(&"full"));
    assert!(last_cause.failed(&"locked"));
    assert!(last_cause.succeeded());
    assert!(!last_cause.succeeded());
    assert!(last_cause.failed(&"locked"));
}
