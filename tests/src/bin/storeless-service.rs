//! The service with the store taken out: what is left is the price of the wire.
//!
//! Everything is the real service's but the writer, which calls every plant created and keeps
//! none.

use anyhow::Result;
use plant_store_server::accepted::AcceptedTokens;
use plant_store_server::api::NewPlant;
use plant_store_server::command::token::{TokenName, issue};
use plant_store_server::log::{Log, LogFormat};
use plant_store_server::metrics::Metrics;
use plant_store_server::request::BodyLimits;
use plant_store_server::server::listen;
use plant_store_server::service::Service;
use plant_store_server::store::{self, CommitError, GroupCommit, Outcome, StoreUrl, Writer};

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
    let url: StoreUrl = "sqlite:plant-store.db".parse()?;
    store::create(&url)?;
    let engine = store::open(&url)?;
    let token = issue(&*engine, &TokenName::first(), None)?;
    let log = Log::start(LogFormat::Json, slog::Level::Info)?;
    let metrics = Metrics::off();
    let (plants, end) =
        GroupCommit::start(Box::new(Nowhere), 1024, log.logger.clone(), metrics.clone())?;
    let service = Service {
        accepted: AcceptedTokens::load(&*engine)?,
        plants,
        body: BodyLimits { size: 1024 * 1024, time: std::time::Duration::from_secs(10) },
        log: log.logger.clone(),
        metrics,
    };
    let server = listen("127.0.0.1:0".parse()?, service, &log)?;
    println!("listening on http://{}", server.local_addr());
    println!("Bearer {}'", token.reveal());
    Ok(end.await??)
}
