//! The service with the store taken out: what is left is the price of the wire.
//!
//! Everything is the real service's but the writer, which calls every plant created and keeps
//! none.

use std::time::Duration;

use anyhow::Result;
use plant_store_server::api::NewPlant;
use plant_store_server::request::BodyLimits;
use plant_store_server::server::listen;
use plant_store_server::store::{CommitError, Outcome, Writer};
use plant_store_tests::OverWriter;

struct Nowhere;

impl Writer for Nowhere {
    fn commit(&mut self, plants: &[NewPlant]) -> Result<Vec<Outcome>, CommitError> {
        Ok(vec![Outcome::Created; plants.len()])
    }

    fn maintain(&mut self) -> Result<(), CommitError> {
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let body = BodyLimits { size: 1024 * 1024, time: Duration::from_secs(10) };
    let url = "sqlite:plant-store.db".parse()?;
    let OverWriter { service, log, token, end } =
        OverWriter::start(Box::new(Nowhere), 1024, body, &url, slog::Level::Info)?;
    let server = listen("127.0.0.1:0".parse()?, service, &log)?;
    println!("listening on http://{}", server.local_addr());
    println!("Bearer {}'", token.reveal());
    Ok(end.await??)
}
