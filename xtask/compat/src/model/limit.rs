//! Which of two limits allows more. Integers beyond 2^53 are compared exactly.

use std::cmp::Ordering;

use crate::keyword::{Rule, keyword};

/// Which of two values of a limit such as `maximum` allows more, as JSON: `Greater` if the first
/// one does. `None` if the check cannot tell.
pub fn allows(name: &str, one: &str, other: &str) -> Option<Ordering> {
    match keyword(name)?.rule {
        Rule::Most => order(one, other),
        Rule::Least => order(other, one),
        _ => None,
    }
}

/// Compares two numbers.
fn order(one: &str, other: &str) -> Option<Ordering> {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => number(one)?.partial_cmp(&number(other)?),
    }
}

fn integer(limit: &str) -> Option<i128> {
    limit.parse().ok()
}

fn number(limit: &str) -> Option<f64> {
    limit.parse().ok()
}
