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
//! The way of a request through the rooms:
//!
//! ```text
//! socket → Dropshot's router
//!   → http::service         the operation behind the API trait, in this order:
//!     → admission             the head: route, Host, token, rate, media type, a place
//!         → accepted_tokens     whether the token is accepted, and its rate
//!     → body                  the bytes, within their limits
//!     → strict                strict JSON to an id and a Plant, and the plant to its text
//!   → store::group_commit   queue → batch → the engine's commit → disk
//!   → http::answer          200 with the text of the Plant, or 400 with an Error: refusal says which
//! ```
//!
//! What each room is for, and what it may not know:
//!
//! - [`command`] is the command line, one file for each command. `serve` starts the service and
//!   stops it.
//! - [`http`] knows HTTP and implements the contract. It does not know which engine keeps the plants.
//! - [`store`] keeps the texts of plants, and token digests. It knows nothing of HTTP or of the
//!   members of a plant, and sees no token.
//! - [`token`] is a token, its name, and what a store keeps of it.
//! - `log` writes what the service says about itself. `admin` serves the metrics, and says
//!   whether the service is ready. Each room makes its own records and metrics; these two rooms
//!   import nothing from the others.
//! - `listener` bounds the connections of clients and closes the idle ones: what Dropshot's
//!   listener lacks.

mod admin;
pub mod command;
pub mod http;
mod listener;
mod log;
pub mod store;
pub mod token;
