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
//!     → request                      what every operation does alike, around it
//!       → create_plant                 the operation, in this order:
//!         → head → token::bearer         a well-formed token, and its digest
//!         → known_tokens → rate          whether it is accepted, and its rate
//!         → head, permits                plain JSON; a permit for the create
//!         → body → json → api::types     the bytes, within their limits, to an id and a Plant
//!         → known_tokens                 again: the token may be revoked or expired by now
//!         → api::answer                  the Plant to its text
//!         → store::group_commit          queue → batch → the writer's thread
//!           → the engine                   one commit, one fsync: disk
//!         → store::group_commit          hands the outcome back to the request
//!       → request                      of the result of the operation:
//!         → metrics, access_record → log   what is counted, and the record
//!         → api::answer                    the answer: 200 with the text of the Plant
//! ```
//!
//! A refusal leaves this way at the step that makes it: it is a `refusal` from there to `request`,
//! which answers, counts and records it. Its status is 400, and its number is the `error` in its
//! body (`api::error_code`). A 401 leaves at `head` or at `known_tokens`, the first time or the
//! second. What Dropshot and hyper answer before `api::request` is in no file here.

mod admin;
pub mod command;
pub mod http;
mod log;
pub mod token;
mod version;
