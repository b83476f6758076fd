//! The method and the path of each operation, as the document has them.
//!
//! Dropshot's router also takes `post`, `//plants`, `/plants/` and `/%70lants` for `POST /plants`.
//! A [`Route`] says what the contract names, byte for byte. An operation needs no line here.

use std::sync::LazyLock;

use http::Method;
use openapiv3::ReferenceOr;

use crate::document::document;

/// The method and the path of an operation.
#[derive(Debug)]
pub struct Route {
    /// The `operationId`.
    pub operation_id: String,
    /// The method.
    pub method: Method,
    /// The path, with a name in braces for each variable segment: `/plants`.
    template: String,
}

static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let document = document();
    let mut routes = Vec::new();
    for (template, path) in &document.paths.paths {
        let ReferenceOr::Item(path) = path else { unreachable!("Dropshot writes paths in place") };
        for (method, operation) in path.iter() {
            let method = method.to_uppercase();
            routes.push(Route {
                operation_id: operation.operation_id.clone().expect("Dropshot names operations"),
                method: method.parse().expect("OpenAPI has methods of HTTP alone"),
                template: template.clone(),
            });
        }
    }
    routes
});

impl Route {
    /// Every operation. The first call makes the document, which takes some milliseconds.
    pub fn all() -> &'static [Self] {
        &ROUTES
    }

    /// The route of the operation with that `operationId`.
    ///
    /// # Panics
    ///
    /// The contract has no such operation.
    #[must_use]
    pub fn of(operation_id: &str) -> &'static Self {
        let route = Self::all().iter().find(|route| route.operation_id == operation_id);
        route.expect("Dropshot names operations of the contract alone")
    }

    /// Whether the path is that of the operation, byte for byte. A variable segment may be any text
    /// but the empty one.
    #[must_use]
    pub fn has_path(&self, path: &str) -> bool {
        // Without a variable segment the two are equal. To compare them costs less than to split.
        if path == self.template {
            return true;
        }
        let mut segments = path.split('/');
        let has_each = self.template.split('/').all(|expected| match segments.next() {
            Some(segment) if expected.starts_with('{') => !segment.is_empty(),
            segment => segment == Some(expected),
        });
        has_each && segments.next().is_none()
    }
}

#[cfg(test)]
mod tests;
