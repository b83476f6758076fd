//! A running server: the HTTP server, the writer, and the thread that reads the tokens.

use std::convert::Infallible;
use std::sync::{Arc, mpsc};

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use plant_store_store::WriterEnd;

use crate::command::serve::args::Args;
use crate::command::serve::opening::Opened;
use crate::http::limits::Limits;
use crate::http::server::{Server, start_server};
use crate::http::service::Service;
use crate::log::Log;

/// A server that listens. Until it has read the tokens, it refuses requests with `error` 503.
pub struct Running {
    pub server: Server,
    /// The limit on open files, which also limits the number of connections.
    pub open_files: u64,
    pub service: Arc<Service>,
    pub writer_end: WriterEnd,
    /// Dropping this ends the thread that reads the tokens.
    pub tokens_watch: mpsc::Sender<Infallible>,
}

impl Running {
    /// Starts the writer, the thread that reads the tokens, and the HTTP server. First raises the
    /// soft limit on open files to the hard limit, because each connection takes a file.
    pub fn start(args: &Args, log: &Log, opened: &Opened) -> Result<Self> {
        let (_, open_files) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, open_files, open_files)
            .context("cannot raise the soft limit on open files to the hard limit")?;
        let limits = Limits {
            max_creates: args.max_creates,
            max_body: usize::try_from(args.max_body.as_u64()).unwrap_or(usize::MAX),
            body_timeout: *args.body_timeout,
            store_timeout: *args.store_timeout,
        };
        let (service, writer_end) =
            Service::start(Arc::clone(&opened.store), limits, log.logger.clone())
                .context("cannot start the writer")?;
        let service = Arc::new(service);
        let tokens_watch = service.tokens.watch(Arc::clone(&service.store), log.logger.clone());
        let tls = opened.tls.clone();
        let server = start_server(args.listen, tls, Arc::clone(&service), log.dropshot.clone())
            .with_context(|| format!("cannot listen on {}", args.listen))?;
        Ok(Self { server, open_files, service, writer_end, tokens_watch })
    }
}
