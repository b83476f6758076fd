//! The tests that every service on `groundwork` runs, on the plant store. The drift check compares
//! its document and its client.

use groundwork_testing::Suite;
use plant_store_tests::PLANT_STORE;

fn suite() -> Suite {
    Suite::new(&*PLANT_STORE)
}

#[test]
fn answers_match_the_document() {
    suite().assert_answers_match_the_document();
}

#[test]
fn credentials_come_first() {
    suite().assert_credentials_come_first();
}

#[test]
fn sigkill_loses_nothing_that_was_answered() {
    suite().assert_sigkill_loses_nothing();
}
