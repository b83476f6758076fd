//! The plant store: one operation, `POST /plants`, around its OpenAPI contract.
//!
//! The contract is a crate of its own, `plant-store-api`, in `api/`. This crate has seven rooms: its
//! modules here. A room imports only from the rooms to its right,
//! and no two modules import each other:
//!
//! ```text
//! command → http → store → token → log → operations → listener
//! ```
//!
//! The way of a request through the rooms, and the `error` of each refusal:
//!
//! ```text
//! socket → Dropshot's router
//!   → http::service       the operation behind the API trait, in this order:
//!     → head                the exact route, Host, transfer coding  (else 404, 405, 400)
//!     → credentials         the token of the Authorization header   (else 401)
//!     → accepted_tokens     whether the token is accepted           (else 401, 503)
//!     → rates               the creates a second of the token       (else 429)
//!     → head                the media type                          (else 415)
//!     → request, bodies     the body, within its limits             (else 400, 408, 413, 503)
//!     → strict              strict JSON to a NewPlant               (else 400)
//!   → store               queue → group commit → disk             (else 409, 500, 503)
//!   → http::answer        200 with a Plant, or 400 with an Error; refusal says which
//! ```
//!
//! What each room is for, and what it may not know:
//!
//! - [`command`] is the command line, one file for each command. `serve` starts the service and
//!   stops it.
//! - [`http`] knows HTTP and implements the contract. It does not know which engine keeps the plants.
//! - [`store`] keeps plants and token digests. It knows nothing of HTTP and sees no token.
//! - [`token`] is a token, its name, and what a store keeps of it.
//! - [`log`] writes what the service says about itself. [`operations`] serves the metrics, and says
//!   whether the service is ready. Each room makes its own records and metrics; these two rooms
//!   import nothing from the others.
//! - [`listener`] bounds the connections of clients and closes the idle ones: what Dropshot's
//!   listener lacks.

pub mod command;
pub mod http;
pub mod listener;
pub mod log;
pub mod operations;
pub mod store;
pub mod token;

pub use plant_store_api::types;
