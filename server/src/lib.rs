//! The plant store: one operation, `POST /plants`, around its OpenAPI contract.
//!
//! A request's journey, module by module; each knows those further along and none before:
//!
//! ```text
//! socket → Dropshot's router
//!   → service       the operation behind the API trait, in this order:
//!     → credentials   the token of the Authorization header      (else 401)
//!     → accepted      is it one that we accept?                   (else 401)
//!     → request       the body, within its limits                 (else 408, 413, 415)
//!     → new_plant     strict JSON to a NewPlant                   (else 400)
//!     → store         queue → group commit → disk                 (else 409, 500, 503)
//!   → answer        200 with a Plant, or 400 with an Error (refusal says which)
//! ```
//!
//! Beside the way:
//!
//! - [`api`] is the contract, [`document`](mod@document) the OpenAPI document that it makes.
//! - [`server`] starts all this and stops it; [`cli`] and [`command`] are the command line.
//! - [`token`] issues tokens; [`log`] says what happened, [`metrics`] how often and how fast.

pub mod accepted;
pub mod answer;
pub mod api;
pub mod cli;
pub mod command;
pub mod credentials;
pub mod document;
pub mod log;
pub mod metrics;
pub mod new_plant;
pub mod refusal;
pub mod request;
pub mod server;
pub mod service;
pub mod store;
pub mod token;
