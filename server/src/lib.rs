//! The plant store: one operation, `POST /plants`, around its OpenAPI contract.
//!
//! The contract is a crate of its own, `plant-store-api`, in `api/`. This crate has seven rooms: its
//! modules here. A room imports only from the rooms to its right, and no two modules import each
//! other:
//!
//! ```text
//! command → http → store → token → log → admin → listener
//! ```
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
//!
//! What each room is for, and what it may not know:
//!
//! - [`command`] is the command line, one file for each command.
//! - [`http`] knows HTTP and implements the contract. It does not know which engine keeps the plants.
//! - [`store`] keeps the texts of plants, and token digests. It knows nothing of HTTP or of the
//!   members of a plant, and sees no token.
//! - [`token`] is a token, its name, and what a store keeps of it.
//! - `log` writes what the service says about itself. `admin` serves the metrics, and says whether the
//!   service is ready. These two import nothing from the others.
//! - `listener` bounds the connections of clients and closes the idle ones.

mod admin;
pub mod command;
pub mod http;
mod listener;
mod log;
pub mod store;
pub mod token;
