//! PostgreSQL alone: each test has a server of its own, which it may stop and kill.

mod clusters;
mod hosts;
mod links;
mod standbys;
