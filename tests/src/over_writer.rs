//! The real service over a writer that is not the store's: all of it but where plants go.

use anyhow::Result;
use plant_store_server::accepted::AcceptedTokens;
use plant_store_server::command::token::{TokenName, issue};
use plant_store_server::log::{Log, LogFormat};
use plant_store_server::metrics::Metrics;
use plant_store_server::request::BodyLimits;
use plant_store_server::service::Service;
use plant_store_server::store::{self, GroupCommit, StoreUrl, Writer, WriterEnd};
use plant_store_server::token::Token;

/// A service that is ready to listen, and what belongs to it.
pub struct OverWriter {
    /// The service.
    pub service: Service,
    /// Its log, on standard error.
    pub log: Log,
    /// A token that it accepts.
    pub token: Token,
    /// Resolves when the writer has ended.
    pub end: WriterEnd,
}

impl OverWriter {
    /// Makes a new store at the URL, for the token alone, and starts the writer.
    ///
    /// # Errors
    ///
    /// Where the store cannot be made, or the operating system gives no thread.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(
        writer: Box<dyn Writer>,
        queue: usize,
        body: BodyLimits,
        url: &StoreUrl,
        level: slog::Level,
    ) -> Result<Self> {
        store::create(url)?;
        let engine = store::open(url)?;
        let token = issue(&*engine, &TokenName::first(), None)?;
        let accepted = AcceptedTokens::load(&*engine)?;
        let log = Log::start(LogFormat::Json, level)?;
        let metrics = Metrics::off();
        let (plants, end) = GroupCommit::start(writer, queue, log.logger.clone(), metrics.clone())?;
        let service = Service { accepted, plants, body, log: log.logger.clone(), metrics };
        Ok(Self { service, log, token, end })
    }
}
