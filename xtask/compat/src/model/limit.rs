//! The limits of a schema, and which of two limits allows more. Integers beyond 2^53 are compared
//! exactly.

use std::cmp::Ordering;

use super::Text;
use crate::keyword::{Rule, keyword};

/// The value of `maximum`, `maxLength`, `pattern` and so on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limit {
    /// Whether it is an exclusive minimum or maximum.
    pub is_exclusive: bool,
    /// The value as JSON.
    pub value: Text,
}

impl Limit {
    pub fn of(value: &impl ToString) -> Self {
        Self { is_exclusive: false, value: value.to_string().into() }
    }

    /// The limit as JSON.
    pub fn json(&self) -> String {
        let Self { is_exclusive, value } = self;
        if *is_exclusive { format!("{{\"exclusive\":{value}}}") } else { value.to_string() }
    }

    /// The value, if it is an integer.
    pub fn integer(&self) -> Option<i128> {
        self.value.parse().ok()
    }

    /// The value, if it is a number.
    fn number(&self) -> Option<f64> {
        self.value.parse().ok()
    }
}

/// Which of two values of a limit allows more: `Greater` if the first one does. `None` if the check
/// cannot tell.
pub fn allows(name: &str, one: &Limit, other: &Limit) -> Option<Ordering> {
    let by_bound = other.is_exclusive.cmp(&one.is_exclusive);
    match keyword(name)?.rule {
        Rule::Most => Some(order(one, other)?.then(by_bound)),
        Rule::Least => Some(order(other, one)?.then(by_bound)),
        Rule::Multiple if is_multiple(other, one) => Some(Ordering::Greater),
        Rule::Multiple if is_multiple(one, other) => Some(Ordering::Less),
        _ => None,
    }
}

/// Compares two numbers.
fn order(one: &Limit, other: &Limit) -> Option<Ordering> {
    match (one.integer(), other.integer()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.number()?.partial_cmp(&other.number()?),
    }
}

/// Whether each multiple of `one` is a multiple of `other`.
fn is_multiple(one: &Limit, other: &Limit) -> bool {
    if let (Some(one), Some(other)) = (one.integer(), other.integer()) {
        return other != 0 && one % other == 0;
    }
    let [one, other] = [one, other].map(|limit| limit.number().unwrap_or_default());
    let ratio = one / other;
    // For example, 0.3 / 0.1 is 2.9999999999999996.
    ratio.is_finite() && (ratio - ratio.round()).abs() < 1e-9
}
