//! PostgreSQL alone: each test has a server of its own, which it may stop and kill.

mod clusters;
mod faults;
mod hosts;
mod links;
mod load;
mod refusals;
mod rollbacks;
mod scene;
mod standbys;
