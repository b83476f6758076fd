//! What has to be there before a plant can be created: the store, its first token, and the accepted
//! tokens. If the store is a database that cannot be reached yet, the service waits for it, and
//! refuses creates with 503.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Error, Result, anyhow};
use slog::{Logger, warn};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::command::serve::first_token::FirstToken;
use crate::http::accepted_tokens::AcceptedTokens;
use crate::store::{ServedStore, StoreError};
use crate::token::{StoredToken, TokenName};

/// How often a store that could not be reached is tried.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// How far it has come.
pub struct Beginning {
    store: Arc<dyn ServedStore>,
    accepted: AcceptedTokens,
    first_token: FirstToken,
    /// Whether the store may have a first token that nobody has seen.
    unseen: Arc<AtomicBool>,
    step: Step,
    /// Why the store could not be used at the last attempt.
    cause: String,
    log: Logger,
}

enum Step {
    /// It is unknown whether the store is there.
    SetUp,
    /// This server has created the store, which may not have its first token yet. With the header
    /// that carries that token.
    Add(StoredToken, String),
    /// The store is there, and this is that header, if there is one.
    Load(Option<String>),
    /// The accepted tokens are known too.
    Done(Option<String>),
}

impl Beginning {
    /// Nothing is done yet.
    pub fn new(
        store: Arc<dyn ServedStore>,
        accepted: AcceptedTokens,
        first_token: FirstToken,
        unseen: Arc<AtomicBool>,
        log: Logger,
    ) -> Self {
        let (step, cause) = (Step::SetUp, String::new());
        Self { store, accepted, first_token, unseen, step, cause, log }
    }

    /// Tries it once. The store may not be reached; then nothing is lost.
    ///
    /// # Errors
    ///
    /// What does not pass by itself.
    pub async fn attempt(mut self) -> Result<Self> {
        let (mut this, tried) = spawn_blocking(|| {
            let tried = self.go_on();
            (self, tried)
        })
        .await?;
        match tried.as_ref().err().and_then(|error| error.downcast_ref()) {
            Some(StoreError::Unreachable { cause, .. }) => {
                this.cause = cause.to_string();
                Ok(this)
            }
            _ => tried.map(|()| this),
        }
    }

    /// Tries it until it is done, and shows the header that carries the first token, if there is
    /// one.
    pub async fn complete(mut self, show: impl FnOnce(&str) -> io::Result<()>) -> Result<()> {
        let mut said = String::new();
        loop {
            if let Step::Done(header) = &self.step {
                let Some(header) = header else { return Ok(()) };
                let shown = show(header);
                self.unseen.store(false, Relaxed);
                let Err(cause) = shown else { return Ok(()) };
                return Err(self.revoke_unseen(&cause).await);
            }
            if self.cause != said {
                warn!(self.log, "creates are refused with 503 until the store can be used";
                    "cause" => &self.cause);
                said.clone_from(&self.cause);
            }
            sleep(TRY_EVERY).await;
            self = self.attempt().await?;
        }
    }

    /// What is wrong if standard output takes nothing. A first token that was made is revoked.
    pub async fn cannot_print(self, cause: io::Error) -> Error {
        match self.unseen.swap(false, Relaxed) {
            true => self.revoke_unseen(&cause).await,
            false => cause.into(),
        }
    }

    /// Revokes the first token because it could not be shown. In a file it is not lost.
    async fn revoke_unseen(self, cause: &io::Error) -> Error {
        if let FirstToken::File(_) = self.first_token {
            return anyhow!("cannot print how to use the first token: {cause}");
        }
        let revoked = spawn_blocking(move || self.store.revoke_token(&TokenName::first())).await;
        match revoked.map_err(Error::from).and_then(|revoked| Ok(revoked?)) {
            Ok(()) => anyhow!("cannot print the first token, so it is revoked: {cause}"),
            Err(error) => anyhow!(
                "cannot print the first token: {cause}; revoke it, because this failed: {error:#}"
            ),
        }
    }

    fn go_on(&mut self) -> Result<()> {
        if let Step::SetUp = self.step {
            let set_up = self.store.set_up().map_err(|error| self.first_token.explain(error))?;
            let first = if set_up { self.first_token.make()? } else { None };
            self.step = first.map_or(Step::Load(None), |(token, header)| Step::Add(token, header));
        }
        if let Step::Add(token, header) = &self.step {
            self.unseen.store(matches!(self.first_token, FirstToken::Print), Relaxed);
            self.store.add_token(token)?;
            self.step = Step::Load(Some(header.clone()));
        }
        if let Step::Load(header) = &self.step {
            // From now on a command that changes the tokens waits for this server too.
            self.store.confirm_tokens(0)?;
            if self.accepted.load(&*self.store)? == 0 {
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
