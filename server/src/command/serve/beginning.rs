//! What has to be there before a plant can be created: the store, its first token, and the accepted
//! tokens. Where the store is a database that cannot be reached yet, the service waits for it, and
//! refuses creates with 503.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use slog::{Logger, warn};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::command::serve::first_token::FirstToken;
use crate::http::accepted_tokens::AcceptedTokens;
use crate::store::{Engine, StoreError};

/// How often a store that could not be reached is tried.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// How far it has come.
pub struct Beginning {
    engine: Arc<dyn Engine>,
    accepted: AcceptedTokens,
    first_token: FirstToken,
    step: Step,
    log: Logger,
}

#[derive(Clone)]
enum Step {
    /// The store may not be there.
    SetUp,
    /// The store is there. This is the header that carries its first token, where this server has
    /// created it.
    Load(Option<String>),
    /// The accepted tokens are known too.
    Done(Option<String>),
}

impl Beginning {
    /// Nothing is done yet.
    pub fn new(
        engine: Arc<dyn Engine>,
        accepted: AcceptedTokens,
        first_token: FirstToken,
        log: Logger,
    ) -> Self {
        Self { engine, accepted, first_token, step: Step::SetUp, log }
    }

    /// Tries it once. The store may not be reached; then nothing is lost.
    ///
    /// # Errors
    ///
    /// What does not pass by itself.
    pub async fn attempt(mut self) -> Result<Self> {
        let (this, tried) = spawn_blocking(|| {
            let tried = self.go_on();
            (self, tried)
        })
        .await?;
        match tried.as_ref().err().and_then(|error| error.downcast_ref()) {
            Some(StoreError::Unreachable { .. }) => Ok(this),
            _ => tried.map(|()| this),
        }
    }

    /// Tries it until it is done, and shows the header that carries the first token, if there is
    /// one.
    pub async fn complete(mut self, show: impl FnOnce(&str) -> io::Result<()>) -> Result<()> {
        if !matches!(self.step, Step::Done(_)) {
            warn!(self.log, "creates are refused with 503 until the store can be reached");
        }
        loop {
            if let Step::Done(header) = self.step {
                return Ok(header.map_or(Ok(()), |header| show(&header))?);
            }
            sleep(TRY_EVERY).await;
            self = self.attempt().await?;
        }
    }

    fn go_on(&mut self) -> Result<()> {
        if let Step::SetUp = self.step {
            let has_created = self.engine.set_up()?;
            let header = if has_created { self.first_token.issue(&*self.engine)? } else { None };
            self.step = Step::Load(header);
        }
        if let Step::Load(header) = &self.step {
            if self.accepted.load(&*self.engine)? == 0 {
                warn!(
                    self.log,
                    "the store has no token: `plant-store token create NAME` makes one"
                );
            }
            self.step = Step::Done(header.clone());
        }
        Ok(())
    }
}
