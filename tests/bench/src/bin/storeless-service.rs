//! The service without its store: what is left is the cost of HTTP.
//!
//! Everything is the real service except the writer, which reports every plant as created and keeps
//! none.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use plant_store_api::types::NewPlant;
use plant_store_server::http::bodies::Bodies;
use plant_store_server::http::server::listen;
use plant_store_server::log::LogLevel;
use plant_store_server::store::{CommitError, Outcome, Writer};
use plant_store_tests::ServiceOverWriter;

struct KeepsNothing;

impl Writer for KeepsNothing {
    fn commit(&mut self, plants: &[NewPlant], _: Instant) -> Result<Vec<Outcome>, CommitError> {
        Ok(vec![Outcome::Created; plants.len()])
    }

    fn maintain(&mut self) -> Result<(), CommitError> {
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let bodies = Bodies::new(1024 * 1024, Duration::from_secs(10), 64 * 1024 * 1024);
    let url = "sqlite:plant-store.db".parse()?;
    let ServiceOverWriter { service, log, token, end } =
        ServiceOverWriter::start(Box::new(KeepsNothing), 1024, bodies, &url, LogLevel::Info)?;
    let server = listen("127.0.0.1:0".parse()?, None, None, service, Arc::clone(&log.dropshot))?;
    println!("listening on http://{}", server.local_addr());
    println!("Bearer {}'", token.reveal());
    Ok(end.await??)
}
