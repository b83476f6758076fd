//! Tests of PostgreSQL alone. Each test has a PostgreSQL server of its own, which it may stop and
//! kill.

mod citus;
mod contents;
mod hosts;
mod refusals;
pub mod scene;
mod servers;
mod standbys;
mod starts;
