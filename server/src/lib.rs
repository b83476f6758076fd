//! The plant store: a service with one operation, `POST /plants`, built around its OpenAPI
//! contract.
//!
//! The service consists of this crate and two others, which do not depend on each other:
//!
//! - `plant-store-api`, in `api/`, is the contract: the types, the error codes, the operation as a
//!   trait, and the document. It knows nothing about stores or sockets.
//! - `plant-store-store`, in `store/`, stores plants as JSON texts and tokens as digests. It knows
//!   nothing about HTTP or the members of a plant, and never sees a token.
//!
//! The modules of this crate:
//!
//! - [`command`] is the command line, with a file or a folder for each command. Only this module
//!   starts the others.
//! - `http` implements the contract. It does not know which engine stores the plants.
//! - `token` issues, parses and hashes bearer tokens.
//! - `log` writes the log. `admin` serves the metrics and the probes. `version` contains the
//!   release and the commit of this build.
//!
//! # The path of a create
//!
//! This is the path of a create on SQLite. Names without a crate are files of `http`.
//!
//! ```text
//! socket → Dropshot → api::request   extract the head and the unread body
//!   → operations                   implement the API trait
//!     → request                      wrap the operation in the common steps
//!       → head → token::bearer         parse the token and hash it
//!       → known_tokens                 check that the token is accepted
//!       → operations                   run the operation, which calls in this order:
//!         known_tokens → rate              check the rate of the token, if it has one
//!         head                             check the media type
//!         permits                          acquire a permit
//!         request → body                   receive the body within its limits
//!         request → json → api::types      parse the body into an id and a Plant
//!         known_tokens                     check again that the token is accepted
//!         api::answer                      serialize the Plant
//!         store::group_commit              queue the create for the writer, which calls
//!           → store::sqlite                  commit the batch: one transaction, one fsync
//!         api::answer                      create the 200 from the serialized Plant
//!       → request                      store the result in the access record
//!         → access_log → log             write the record and update the metrics
//! ```
//!
//! A request that is refused leaves this path at the step that refuses it. The step returns a
//! `Refusal`, and `request` turns it into an answer with status 400 and the number from
//! `api::error_code` as `error`. A 401 comes from `head` or from either call of `known_tokens`.
//! Answers that Dropshot and hyper send before `api::request` have no code here.

mod admin;
pub mod command;
mod http;
mod log;
mod names;
mod token;
mod version;
