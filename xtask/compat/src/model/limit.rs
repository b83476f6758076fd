//! Which of two limits allows more. Integers beyond 2^53 are compared exactly.

use std::cmp::Ordering;

use crate::keyword::{Rule, keyword};

/// Which of two values of a limit such as `maximum` allows more, as JSON: `Greater` if the first
/// one does. `None` if the check cannot tell.
pub fn allows(name: &str, one: &str, other: &str) -> Option<Ordering> {
    match keyword(name)?.rule {
        Rule::Most => order(one, other),
        Rule::Least => order(other, one),
        Rule::Multiple if is_multiple(other, one) => Some(Ordering::Greater),
        Rule::Multiple if is_multiple(one, other) => Some(Ordering::Less),
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

/// Whether each multiple of `one` is a multiple of `other`.
fn is_multiple(one: &str, other: &str) -> bool {
    if let (Some(one), Some(other)) = (integer(one), integer(other)) {
        return other != 0 && one % other == 0;
    }
    let [one, other] = [one, other].map(|limit| number(limit).unwrap_or_default());
    let ratio = one / other;
    // For example, 0.3 / 0.1 is 2.9999999999999996.
    ratio.is_finite() && (ratio - ratio.round()).abs() < 1e-9
}

fn integer(limit: &str) -> Option<i128> {
    limit.parse().ok()
}

fn number(limit: &str) -> Option<f64> {
    limit.parse().ok()
}
