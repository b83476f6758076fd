//! The plant store: one operation, `POST /plants`, around its OpenAPI contract.
//!
//! Three crates stand beside this one, and none of them knows another:
//!
//! - `plant-store-api`, in `api/`, is the contract: types, errors, the operation as a trait, and the
//!   document. It knows no store and no socket.
//! - `plant-store-store`, in `store/`, keeps the texts of plants and the digests of tokens. It knows
//!   no HTTP and no member of a plant, and sees no token.
//! - `plant-store-listener`, in `listener/`, bounds the connections of clients and closes the idle
//!   ones. It knows sockets alone.
//!
//! The modules of this crate:
//!
//! - [`command`] is the command line, one file for each command. It alone starts the others.
//! - [`http`] implements the contract. It does not know which engine keeps the plants.
//! - [`token`] is a bearer token: parsed, issued, hashed.
//! - `log` writes what the service says about itself. `admin` serves the metrics, and says whether
//!   the service is ready. These two import nothing from the others.
//!
//! The way of a create, file by file:
//!
//! ```text
//! socket → Dropshot → api::api   the operation as a trait: head, and unread body
//!   → http::service              the operation, in this order:
//!     → admission                  the head: route, Host, token, rate, media type, a place
//!       → token::bearer              a well-formed token, and its digest
//!       → accepted_tokens            whether it is accepted, and its rate
//!     → body                       the bytes, within their limits
//!     → strict                     strict JSON to an id and a Plant (api::types)
//!     → store::group_commit        queue → batch → the writer's thread
//!       → the engine, its writer     one commit, one fsync: disk
//!     → answer                     200 with the text of the Plant, its record and its metrics
//! ```
//!
//! A refusal skips steps: whichever step refuses, `http::service` hands the reason to `answer`, and
//! `api::error_code` has its number.

mod admin;
pub mod command;
pub mod http;
mod log;
pub mod token;
