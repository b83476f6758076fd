//! PostgreSQL alone: each test has a server of its own, which it may stop and kill.

mod blocked_copies;
mod citus;
mod clusters;
mod contents;
mod crowds;
mod failover;
mod faults;
mod hosts;
mod links;
mod load;
mod pauses;
mod poolers;
mod refusals;
mod restore;
mod rollbacks;
mod safety;
mod scene;
mod servers;
mod standbys;
mod starts;
