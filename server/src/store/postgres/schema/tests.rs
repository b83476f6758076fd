use super::*;

/// Servers that start together on a new database all run them.
#[test]
fn each_statement_of_a_step_may_run_again() {
    for statement in STEPS.iter().copied().flatten() {
        let may = ["IF NOT EXISTS", "ON CONFLICT"].iter().any(|it| statement.contains(it));
        assert!(may, "{statement}");
    }
}
