//! Compares limits. Integers beyond 2^53 are compared exactly.

use std::cmp::Ordering;

use serde_json::Number;

use crate::keyword::{Rule, keyword};
use crate::model::Limit;

/// Which of two values of a limit allows more: `Greater` if the first one does. `None` if the check
/// cannot tell.
pub fn allows(name: &str, one: &Limit, other: &Limit) -> Option<Ordering> {
    let number = |limit| match limit {
        Limit::Number(number) | Limit::Exclusive(number) => Some(number),
        Limit::Other(_) => None,
    };
    let is_exclusive = |limit: &Limit| matches!(limit, Limit::Exclusive(_));
    let by_bound = is_exclusive(other).cmp(&is_exclusive(one));
    let (first, second) = (number(one.clone())?, number(other.clone())?);
    match keyword(name)?.rule {
        Rule::Most => Some(order(&first, &second)?.then(by_bound)),
        Rule::Least => Some(order(&second, &first)?.then(by_bound)),
        Rule::Multiple if is_multiple(&second, &first) => Some(Ordering::Greater),
        Rule::Multiple if is_multiple(&first, &second) => Some(Ordering::Less),
        _ => None,
    }
}

/// Compares two numbers.
fn order(one: &Number, other: &Number) -> Option<Ordering> {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// Whether each multiple of `one` is a multiple of `other`.
fn is_multiple(one: &Number, other: &Number) -> bool {
    if let (Some(one), Some(other)) = (whole(one), whole(other)) {
        return other != 0 && one % other == 0;
    }
    let [one, other] = [one, other].map(|number| number.as_f64().unwrap_or_default());
    let ratio = one / other;
    // For example, 0.3 / 0.1 is 2.9999999999999996.
    ratio.is_finite() && (ratio - ratio.round()).abs() < 1e-9
}

/// The next larger or smaller integer.
pub fn next(number: &Number, step: i128) -> Option<Number> {
    let next = whole(number)? + step;
    u64::try_from(next).map(Number::from).or_else(|_| i64::try_from(next).map(Number::from)).ok()
}

/// The value of a number that is an integer.
fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}
