//! The tests that every service on `groundwork` runs.

use groundwork_testing::Suite;

fn suite() -> Suite {
    Suite::new(env!("CARGO_BIN_EXE_goose-farm"))
}

#[test]
fn document_and_client_are_up_to_date() {
    suite().assert_up_to_date("openapi.json", "client/src/generated.rs");
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
