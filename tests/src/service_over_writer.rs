//! The real service with a writer that the caller provides. Everything else is real.

use std::time::Duration;

use anyhow::Result;
use plant_store_server::http::accepted_tokens::AcceptedTokens;
use plant_store_server::http::bodies::Bodies;
use plant_store_server::http::service::Service;
use plant_store_server::log::{Log, LogFormat, LogLevel};
use plant_store_server::store::{
    self, CreateLimits, GroupCommit, Start, StoreUrl, Writer, WriterEnd,
};
use plant_store_server::token::{StoredToken, Token, TokenName};

/// Longer than any writer of a test takes.
const COMMIT_TIMEOUT: Duration = Duration::from_mins(1);

/// A service that is ready to listen, and what belongs to it.
pub struct ServiceOverWriter {
    /// The service.
    pub service: Service,
    /// Its log, on standard error.
    pub log: Log,
    /// A token that it accepts.
    pub token: Token,
    /// Resolves when the writer has ended.
    pub end: WriterEnd,
}

impl ServiceOverWriter {
    /// Creates a store at the URL, which keeps only the token, and starts the writer.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(
        writer: Box<dyn Writer>,
        queue: usize,
        bodies: Bodies,
        url: &StoreUrl,
        level: LogLevel,
    ) -> Result<Self> {
        let engine = store::open_to_serve(url, Start { create: true, ..Start::default() })?;
        let (token, stored) = StoredToken::issue(TokenName::first(), None);
        engine.add_token(&stored)?;
        let accepted = AcceptedTokens::default();
        accepted.load(&*engine)?;
        let log = Log::start(LogFormat::Json, level, 100)?;
        let limits =
            CreateLimits { queue, store_timeout: COMMIT_TIMEOUT, commit_timeout: COMMIT_TIMEOUT };
        let (plants, end) = GroupCommit::start(writer, limits, log.logger.clone())?;
        let service = Service::new(accepted, plants, bodies, log.logger.clone());
        Ok(Self { service, log, token, end })
    }
}
