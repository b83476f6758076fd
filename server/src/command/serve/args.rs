//! The flags of `plant-store serve`, each with its environment variable and its default.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use bytesize::ByteSize;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use humantime::Duration;

use crate::command::serve::tls::TlsFiles;
use crate::command::store_args::StoreArgs;
use crate::command::value::{size, threads, time};
use crate::http::body::BodyLimits;
use crate::log::{LogFormat, LogLevel};
use crate::store::Start;

/// Where the first token of a new store goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FirstToken {
    /// To standard output, in a command that uses it
    Print,
    /// There is none
    None,
}

/// Serve the API until SIGTERM or SIGINT
///
/// A store that does not exist is created, and a first token is issued and printed.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Address to listen on; port 0 takes any free one
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "PLANT_STORE_LISTEN",
        default_value = "127.0.0.1:8080"
    )]
    pub listen: SocketAddr,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Where the first token of a new store goes
    #[arg(long, value_name = "WHERE", env = "PLANT_STORE_FIRST_TOKEN", default_value = "print")]
    pub first_token: FirstToken,

    /// PEM file with the certificate chain: with it and --tls-key the API is served over TLS
    #[arg(long, value_name = "FILE", env = "PLANT_STORE_TLS_CERT", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// PEM file with the private key of the certificate
    #[arg(long, value_name = "FILE", env = "PLANT_STORE_TLS_KEY", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// How many threads speak HTTP [default: chosen from the processor's cores]
    #[arg(long, value_name = "THREADS", value_parser = threads, env = "PLANT_STORE_HTTP_THREADS")]
    pub http_threads: Option<NonZeroUsize>,

    /// How many connections may be open; the next ones wait
    #[arg(
        long,
        value_name = "CONNECTIONS",
        env = "PLANT_STORE_MAX_CONNECTIONS",
        default_value = "500"
    )]
    pub max_connections: NonZeroU32,

    /// How long a connection may be open without a request in flight
    #[arg(long, value_name = "DURATION", value_parser = time, env = "PLANT_STORE_IDLE_TIMEOUT", default_value = "30s")]
    pub idle_timeout: Duration,

    /// Start on a store whose server was not stopped and whose WAL is lost; what the WAL held is gone
    #[arg(long, env = "PLANT_STORE_WITHOUT_WAL")]
    pub without_wal: bool,

    /// Start on a database that has fsync or full_page_writes off; it may lose plants at a power cut
    #[arg(long, env = "PLANT_STORE_WITHOUT_FSYNC")]
    pub without_fsync: bool,

    /// Start only on a store that is there already
    #[arg(long, env = "PLANT_STORE_NO_CREATE")]
    pub no_create: bool,

    /// Address to serve /metrics, /live and /ready on, to everybody who can reach it: bind it to
    /// loopback or to a private network [default: none]
    #[arg(long, value_name = "ADDRESS", env = "PLANT_STORE_METRICS")]
    pub metrics: Option<SocketAddr>,

    /// Largest request body
    #[arg(long, value_name = "SIZE", value_parser = size, env = "PLANT_STORE_MAX_BODY", default_value = "64KiB")]
    pub max_body: ByteSize,

    /// How many creates may be in the service at a time; one token may have half of them. The next
    /// ones are refused with 503
    #[arg(long, value_name = "CREATES", env = "PLANT_STORE_MAX_CREATES", default_value = "1024")]
    pub max_creates: NonZeroU32,

    /// How long a request body may take to arrive
    #[arg(long, value_name = "DURATION", value_parser = time, env = "PLANT_STORE_BODY_TIMEOUT", default_value = "10s")]
    pub body_timeout: Duration,

    /// How many creates a second each token may send to this server, a tenth of them at once; the
    /// next ones are refused with 429 [default: any]
    #[arg(long, value_name = "CREATES", env = "PLANT_STORE_MAX_RATE")]
    pub max_rate: Option<NonZeroU32>,

    /// How long a create may wait for the store until it is refused with 503; it may be stored or not
    #[arg(long, value_name = "DURATION", value_parser = time, env = "PLANT_STORE_STORE_TIMEOUT", default_value = "5s")]
    pub store_timeout: Duration,

    /// How long requests in flight may take once the server is told to stop
    #[arg(
        long,
        value_name = "DURATION", value_parser = time,
        env = "PLANT_STORE_SHUTDOWN_TIMEOUT",
        default_value = "10s"
    )]
    pub shutdown_timeout: Duration,

    /// The least important records that the log holds; requests without an accepted token are
    /// recorded at `debug`
    #[arg(
        long,
        value_name = "LEVEL",
        env = "PLANT_STORE_LOG_LEVEL",
        default_value = "info",
        value_parser = PossibleValuesParser::new(["debug", "info", "warning", "error", "critical"])
            .map(|word| word.parse::<LogLevel>().expect("slog has these levels"))
    )]
    pub log_level: LogLevel,

    /// How the log is written [default: text on a terminal, json elsewhere]
    #[arg(long, value_name = "FORMAT", env = "PLANT_STORE_LOG_FORMAT")]
    pub log_format: Option<LogFormat>,
}

impl Args {
    /// Refuses flags that do not fit together.
    pub fn check(&self) -> Result<()> {
        let is_one = |metrics: SocketAddr| metrics == self.listen && metrics.port() != 0;
        ensure!(
            !self.metrics.is_some_and(is_one),
            "--metrics and --listen are both {}: each needs an address of its own",
            self.listen,
        );
        Ok(())
    }

    /// The limits of bodies.
    pub fn bodies(&self) -> BodyLimits {
        let size = usize::try_from(self.max_body.as_u64()).unwrap_or(usize::MAX);
        BodyLimits { size, time: self.body_timeout.into() }
    }

    /// How to start on the store.
    pub fn start(&self) -> Start {
        Start {
            create: !self.no_create,
            without_wal: self.without_wal,
            without_fsync: self.without_fsync,
        }
    }

    /// The files of TLS, if the API is served over it.
    pub fn tls(&self) -> Option<TlsFiles> {
        let (cert, key) = (self.tls_cert.clone()?, self.tls_key.clone()?);
        Some(TlsFiles { cert, key })
    }
}
