//! Services that create resources durably in SQLite or PostgreSQL, behind a Dropshot API with a
//! published OpenAPI document.
//!
//! A service is its types, its operations as Dropshot endpoints, and a static [`Service`]:
//!
//! ```no_run
//! # use dropshot::{ApiDescription, RequestContext, TypedBody, endpoint};
//! # use groundwork::{Answer, Context, Error, Example, Info, JsonText, Names, RefusalStatus};
//! # use groundwork::{Service, UnreadRequest, Version, respond};
//! # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! # struct Book { title: String }
//! # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! # struct NewBook { id: i64, title: String }
//! # fn api() -> ApiDescription<Context> {
//! #     let mut api = ApiDescription::new();
//! #     api.register(create_book).expect("a valid operation");
//! #     api
//! # }
//! /// Create a book
//! #[endpoint { method = POST, path = "/books" }]
//! async fn create_book(
//!     context: RequestContext<Context>,
//!     request: UnreadRequest<TypedBody<NewBook>>,
//! ) -> Result<Answer<Book>, Error> {
//!     respond(context, request, async |NewBook { id, title }, request| {
//!         request.commit(id, &Book { title }).await
//!     })
//!     .await
//! }
//!
//! static BOOK_SHELF: Service = Service {
//!     names: Names { program: "book-shelf", table: "books", application_id: *b"BKS" },
//!     resource: "book",
//!     token_prefix: "bks_",
//! #   version: env!("CARGO_PKG_VERSION"),
//! #   commit: "",
//! #   about: "Run and maintain a book shelf",
//! #   info: Info {
//! #       title: "Book Shelf",
//! #       version: Version::new(1, 0, 0),
//! #       description: "Clients create books.",
//! #       license: "MIT",
//! #       license_url: "https://opensource.org/license/mit",
//! #   },
//!     api,
//! #   idempotent: &["create_book"],
//! #   errors: &[],
//! #   refusal_status: RefusalStatus::SameAsError,
//! #   example: Example {
//! #       path: "/books",
//! #       body: || r#"{"id":1,"title":"Ulysses"}"#.to_owned(),
//! #       refused: "missing field `title` at line 1 column 8",
//! #   },
//!     is_resource: JsonText::<Book>::is_valid,
//!     // The version, the beginning of the document, an example and its own errors.
//! };
//!
//! fn main() -> std::process::ExitCode {
//!     groundwork::main(&BOOK_SHELF)
//! }
//! ```
//!
//! `tests/goose-farm` in this repository is a complete service with two ways to create, a read and
//! errors of its own.
//!
//! State and settings of a service are its own statics: see [`Service`].
//!
//! # What a service cannot do
//!
//! - Change, delete or list resources: an operation creates a resource, or reads one by its id.
//! - Have a second kind of resource: a store has one table.
//! - Choose the type of an id: it is an `i64`. The resource itself has no member `id`, because
//!   `export` adds one.
//! - Have integers beyond 64 bits: two different ones can count as the same.
//! - Refuse with `error` 429, which stands for a proxy that limits the rate.
//! - Give scopes to a token: a token has only a name, [`AcceptedRequest::token_name`], and an
//!   expiry. An operation can refuse a request by the name, after the body has been read.
//! - Take parameters from the query of a URL.
//! - Answer with another status than 200 if it succeeds.
//!
//! # How a request is processed
//!
//! [`respond`] checks the credentials, reads the [`Input`], and calls the operation, which takes
//! its steps from the [`AcceptedRequest`]. If the token is not accepted, neither parameters nor the
//! body are read.
//!
//! | step | `error` on failure |
//! | --- | --- |
//! | [`respond`]: check that the bearer token is accepted | 401; 503 if none can be checked |
//! | acquire a permit | 503 |
//! | `Path`: extract the parameters | 400 |
//! | `TypedBody`: check the media type | 415 |
//! | receive the body within its limits, and parse it | 400, 408, 413 |
//! | check again that the token is accepted, because it may have been revoked | 401, 503 |
//! | [`stored`](AcceptedRequest::stored): read a row | 500, 503 |
//! | [`commit`](AcceptedRequest::commit): commit a row, and answer once it is durable | 409, 500, 503 |
//!
//! A rule of the service fits between the steps, and returns a [`Refusal`]. Answers that Dropshot
//! and hyper send before an operation is called have no code here.
//!
//! # The path of a create
//!
//! `tokens` is `src/tokens.rs`, and the other modules are in `src/http/`.
//!
//! ```text
//! socket → Dropshot
//!   → the operation of the service
//!     → request                      run the operation within the common steps
//!       → headers, tokens              parse the token, and check that it is accepted
//!       → request                      acquire a permit
//!       → body                         receive and parse the body
//!       → the operation of the service
//!         → request, typed               serialize the resource
//!           → groundwork-store             queue the row for the writer, which commits the batch:
//!                                          one transaction, one fsync
//!         → typed                        create the 200 from the serialized resource
//!       → access_log                   write the record, and update the metrics
//! ```
//!
//! # The other modules
//!
//! `service` contains the names and texts of a service. `document` completes the OpenAPI document.
//! `error` contains the table of errors. `command` is the command line, with a file or a folder for
//! each command; only this module starts the others. `log` writes all records to stderr. `admin`
//! serves the metrics and the probes. Nothing names a service or its resource.

mod admin;
mod command;
mod document;
mod error;
mod http;
mod log;
mod service;
mod tokens;

pub use crate::command::{command_line, main};
pub use crate::document::document;
pub use crate::error::{Error, ErrorCode, ErrorRow, Refusal, RefusalStatus};
pub use crate::http::request::{AcceptedRequest, Input, UnreadRequest, respond};
pub use crate::http::typed::{Answer, Content, JsonText};
pub use crate::http::{Context, State};
pub use crate::service::{Example, Info, Service};
#[doc(hidden)]
pub use git_version::git_version;
pub use groundwork_store::Names;
pub use semver::Version;
