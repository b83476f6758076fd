//! The plant store: one operation, `POST /plants`, around its OpenAPI contract.
//!
//! Two crates stand beside this one, and neither knows the other:
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
//! - [`http`] implements the contract. It does not know which engine keeps the plants.
//! - [`token`] is a bearer token: parsed, issued, hashed.
//! - `log` writes what the service says about itself. `admin` serves the metrics, and says whether
//!   the service is ready. These two import nothing from the others.
//!
//! The way of a create, file by file:
//!
//! ```text
//! socket → Dropshot → api::request   the head, and the unread body of a NewPlant
//!   → http::operations             the API trait, which hands the request to its operation
//!     → create_plant                 the operation, in this order:
//!       → exchange                       what is kept of the request until its answer
//!       → admission                    what the head decides:
//!         → api::routes, framing         the exact route; Host and transfer coding
//!         → credentials → token::bearer  a well-formed token, and its digest
//!         → known_tokens → rate          whether it is accepted, and its rate
//!         → media_type, permits          plain JSON; a permit for the create
//!       → body → strict, strict::member  the bytes, within their limits, to a NewPlant
//!       → api::types, api::answer        to an id and a Plant, and the Plant to its text
//!       → known_tokens                   again: the token may be revoked or expired by now
//!       → store::group_commit            queue → batch → the writer's thread
//!         → the engine                     one commit, one fsync: disk
//!         → store::group_commit            hands the outcome back to the request
//!       → exchange                       finishes the request:
//!         → metrics, access_record → log   what is counted, and the record
//!         → api::answer                    200 with the text of the Plant
//! ```
//!
//! A refusal has the status 400, and its number is the `error` in its body (`api::error_code`). It
//! leaves this way at the step that makes it, as a `refusal`. `exchange` answers it (`answer`,
//! `api::answer`), counts it and records it. If the head decides it, the answer waits before that:
//! a 429 for a moment, any other one on HTTP/1.1 until other connections had their turn
//! (`fairness`). A 401 leaves at `credentials` or at `known_tokens`, the first time or the second.
//! The statuses 404 and 405 of a path or method that only Dropshot's router takes for the
//! operation's are Dropshot's own answers: recorded, not counted.

mod admin;
pub mod command;
pub mod http;
mod log;
pub mod token;
mod version;
