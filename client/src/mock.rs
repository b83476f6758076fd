// Generated from the OpenAPI document. Edits of this file are lost.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    unused_imports,
    unused_variables,
    reason = "generated: the generator decides how it reads"
)]

pub mod operations {
    //! [`When`](::httpmock::When) and [`Then`](::httpmock::Then)
    //! wrappers for each operation. Each can be converted to
    //! its inner type with a call to `into_inner()`. This can
    //! be used to explicitly deviate from permitted values.
    use crate::*;
    pub struct CreatePlantWhen(::httpmock::When);
    impl CreatePlantWhen {
        pub fn new(inner: ::httpmock::When) -> Self {
            Self(
                inner
                    .method(::httpmock::Method::POST)
                    .path_matches(regex::Regex::new("^/plants$").unwrap()),
            )
        }
        pub fn into_inner(self) -> ::httpmock::When {
            self.0
        }
        pub fn body(self, value: &types::NewPlant) -> Self {
            Self(self.0.json_body_obj(value))
        }
    }
    pub struct CreatePlantThen(::httpmock::Then);
    impl CreatePlantThen {
        pub fn new(inner: ::httpmock::Then) -> Self {
            Self(inner)
        }
        pub fn into_inner(self) -> ::httpmock::Then {
            self.0
        }
        pub fn ok(self, value: &types::Plant) -> Self {
            Self(
                self
                    .0
                    .status(200u16)
                    .header("content-type", "application/json")
                    .json_body_obj(value),
            )
        }
        pub fn bad_request(self, value: &::groundwork_client::Refusal) -> Self {
            Self(
                self
                    .0
                    .status(400u16)
                    .header("content-type", "application/json")
                    .json_body_obj(value),
            )
        }
    }
}
/// An extension trait for [`MockServer`](::httpmock::MockServer) that
/// adds a method for each operation. These are the equivalent of
/// type-checked [`mock()`](::httpmock::MockServer::mock) calls.
pub trait MockServerExt {
    fn create_plant<F>(&self, config_fn: F) -> ::httpmock::Mock<'_>
    where
        F: FnOnce(operations::CreatePlantWhen, operations::CreatePlantThen);
}
impl MockServerExt for ::httpmock::MockServer {
    fn create_plant<F>(&self, config_fn: F) -> ::httpmock::Mock<'_>
    where
        F: FnOnce(operations::CreatePlantWhen, operations::CreatePlantThen),
    {
        self.mock(|when, then| {
            config_fn(
                operations::CreatePlantWhen::new(when),
                operations::CreatePlantThen::new(then),
            )
        })
    }
}
