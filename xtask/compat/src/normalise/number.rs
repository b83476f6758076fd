//! Compares numbers of JSON: integers exactly, also beyond 2^53.

use std::cmp::Ordering;

use serde_json::Value;

/// Which of two numbers is larger; none if one of them is not a number.
pub fn order(one: &Value, other: &Value) -> Option<Ordering> {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// Whether each multiple of `one` is a multiple of `other`.
pub fn is_multiple(one: &Value, other: &Value) -> bool {
    if let (Some(one), Some(other)) = (whole(one), whole(other)) {
        return other != 0 && one % other == 0;
    }
    let [one, other] = [one, other].map(|number| number.as_f64().unwrap_or_default());
    let ratio = one / other;
    // For example, 0.3 / 0.1 is 2.9999999999999996.
    ratio.is_finite() && (ratio - ratio.round()).abs() < 1e-9
}

/// A number without a fraction.
pub fn whole(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

/// Writes each number without a fraction as an integer: 1.0 and 1 are one number.
pub fn unify(value: &mut Value) {
    /// 2^63: a float without a fraction below it is an integer of 64 bits.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Array(items) => items.iter_mut().for_each(unify),
        Value::Object(members) => members.values_mut().for_each(unify),
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|one| one.fract() == 0.0 && one.abs() < LIMIT);
            if let Some(whole) = whole {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
                let whole = whole as i64;
                *value = Value::from(whole);
            }
        }
        _ => {}
    }
}
