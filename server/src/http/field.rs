//! A header field of a request, which may be there once, several times or not at all.

use http::{HeaderMap, HeaderName, HeaderValue};

/// How often a field is there.
pub enum Field<'a> {
    Absent,
    Once(&'a HeaderValue),
    Repeated,
}

impl<'a> Field<'a> {
    /// The field of that name.
    pub fn of(headers: &'a HeaderMap, name: &HeaderName) -> Self {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Self::Absent,
            (Some(value), None) => Self::Once(value),
            (Some(_), Some(_)) => Self::Repeated,
        }
    }
}
