//! The plant store: one operation, `POST /plants`, around its OpenAPI contract.
//!
//! Two crates stand beside this one, and neither of them knows the other:
//!
//! - `plant-store-api`, in `api/`, is the contract: types, errors, the operation as a trait, and
//!   the document. It knows no store and no socket.
//! - `plant-store-store`, in `store/`, keeps the texts of plants and the digests of tokens. It
//!   knows no HTTP and no member of a plant, and sees no token.
//!
//! The modules of this crate:
//!
//! - [`command`] is the command line, a file or a folder for each command. It alone starts the
//!   others.
//! - `http` implements the contract. It does not know which engine keeps the plants.
//! - `token` is a bearer token: parsed, issued, hashed.
//! - `log` writes what the service says about itself. `admin` serves the metrics, and says whether
//!   the service is ready. `version` is the release and the commit of this build.
//!
//! The way of a create on SQLite. A name without a crate is a file of `http`:
//!
//! ```text
//! socket → Dropshot → api::request   the head, and the unread body of a NewPlant
//!   → operations                   the API trait
//!     → request                      what every operation does alike, around it
//!       → head → token::bearer         a well-formed token, and its digest
//!       → known_tokens                 whether it is accepted
//!       → operations                   the operation, which calls in this order:
//!         known_tokens → rate              the rate of the token, if there is one
//!         head                             plain JSON
//!         permits                          a permit for the create
//!         request → body                   the bytes, within their limits
//!         request → json → api::types      the bytes to an id and a Plant
//!         known_tokens                     again: the token may be revoked or expired by now
//!         api::answer                      the Plant to its text
//!         store::group_commit              the queue, and the writer's thread, which calls
//!           → store::sqlite                  `store` and `plants`: one commit, one fsync
//!         api::answer                      the answer: 200 with the text of the Plant
//!       → request                      notes what was answered
//!         → access_log → log             the record, and what is counted
//! ```
//!
//! A refusal leaves this way at the step that makes it: it is a `refusal` from there to `request`,
//! which makes the answer of it. Its status is 400, and its number is the `error` in its body
//! (`api::error_code`). A 401 leaves at `head` or at `known_tokens`, the first time or the second.
//! What Dropshot and hyper answer before `api::request` is in no file here.

mod admin;
pub mod command;
mod http;
mod log;
mod names;
mod token;
mod version;
