//! A service that listens: the HTTP server, and the thread that commits.

use std::sync::Arc;

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use plant_store_store::{GroupCommit, WriterEnd};
use tokio::task::JoinSet;

use crate::command::serve::args::Args;
use crate::command::serve::opening::Opened;
use crate::http::body::BodyLimits;
use crate::http::known_tokens::KnownTokens;
use crate::http::server::{Server, start_server};
use crate::http::service::Service;
use crate::log::Log;

/// A service that listens. Until it has read the tokens, it refuses requests with `error` 503.
pub struct Running {
    pub server: Server,
    /// How many files the process may have open. This bounds the connections.
    pub open_files: u64,
    pub tokens: KnownTokens,
    pub plants: GroupCommit,
    pub writer_end: WriterEnd,
    /// Those that run until the store is closed. They end when this is dropped.
    pub tasks: JoinSet<()>,
}

impl Running {
    /// Starts the thread that commits and the HTTP server, which listens. Raises the soft limit on
    /// open files to the hard one before, because each connection takes a file.
    pub fn start(args: &Args, log: &Log, opened: &Opened) -> Result<Self> {
        let (_, open_files) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, open_files, open_files)
            .context("cannot raise the soft limit on open files to the hard one")?;
        let store = Arc::clone(&opened.store);
        let (plants, writer_end) =
            GroupCommit::start(store, *args.store_timeout, log.logger.clone())
                .context("cannot start the writer")?;
        let size = usize::try_from(args.max_body.as_u64()).unwrap_or(usize::MAX);
        let bodies = BodyLimits { size, time: *args.body_timeout };
        let tokens = KnownTokens::new(args.max_rate, args.max_creates);
        let service = Service::new(
            tokens.clone(),
            plants.clone(),
            args.max_creates,
            bodies,
            log.logger.clone(),
        );
        let server = start_server(args.listen, opened.tls.clone(), service, log.dropshot.clone())
            .with_context(|| format!("cannot listen on {}", args.listen))?;
        Ok(Self { server, open_files, tokens, plants, writer_end, tasks: JoinSet::new() })
    }
}
