use super::*;

#[test]
fn failure_is_new_only_if_it_differs_from_the_last_attempt() {
    let mut dedup = WarningDedup::default();
    assert!(!dedup.succeeded(), "no attempt failed before");
    assert!(dedup.failed(&"full"));
    assert!(!dedup.failed(&"full"));
    assert!(dedup.failed(&"locked"));
    assert!(dedup.succeeded());
    assert!(!dedup.succeeded());
    assert!(dedup.failed(&"locked"));
}
