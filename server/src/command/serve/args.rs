//! The flags of `plant-store serve`, each with its environment variable and its default.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use bytesize::ByteSize;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use humantime::Duration;

use crate::command::serve::first_token::FirstToken;
use crate::command::store_args::StoreArgs;
use crate::command::value::in_range;
use crate::http::bodies::{Bodies, largest_body};
use crate::http::tls::TlsFiles;
use crate::log::{LogFormat, LogLevel};
use crate::store::{self, CreateLimits, Start};

/// Serve the API until SIGTERM or SIGINT
///
/// A store that does not exist is created, and a first token is issued and printed.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_args(in_range))]
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

    /// Where the first token of a new store goes: `print` it, issue `none`, or write it to this
    /// FILE, which only its owner may read
    #[arg(
        long,
        value_name = "print|none|FILE",
        env = "PLANT_STORE_FIRST_TOKEN",
        default_value = "print"
    )]
    pub first_token: FirstToken,

    /// PEM file with the certificate chain: with it and --tls-key the API is served over TLS
    #[arg(long, value_name = "FILE", env = "PLANT_STORE_TLS_CERT", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// PEM file with the private key of the certificate
    #[arg(long, value_name = "FILE", env = "PLANT_STORE_TLS_KEY", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// How many threads speak HTTP [default: chosen from the processor's cores]
    #[arg(long, value_name = "THREADS", env = "PLANT_STORE_HTTP_THREADS")]
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
    #[arg(long, value_name = "DURATION", env = "PLANT_STORE_IDLE_TIMEOUT", default_value = "30s")]
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
    #[arg(long, value_name = "SIZE", env = "PLANT_STORE_MAX_BODY", default_value = "1MiB")]
    pub max_body: ByteSize,

    /// All requests with an accepted token together, heads and bodies, until their answers are
    /// sent; what does not fit is refused with 503
    #[arg(long, value_name = "SIZE", env = "PLANT_STORE_MAX_BODIES", default_value = "64MiB")]
    pub max_bodies: ByteSize,

    /// How long a request body may take to arrive
    #[arg(long, value_name = "DURATION", env = "PLANT_STORE_BODY_TIMEOUT", default_value = "10s")]
    pub body_timeout: Duration,

    /// How many creates a second each token may send; the next ones are refused with 429
    /// [default: any]
    #[arg(long, value_name = "CREATES", env = "PLANT_STORE_MAX_RATE")]
    pub max_rate: Option<NonZeroU32>,

    /// How many creates may wait to be committed; the next ones are refused with 503
    #[arg(long, value_name = "CREATES", env = "PLANT_STORE_QUEUE", default_value = "1024")]
    pub queue: NonZeroU32,

    /// How long a create may take until it is refused with 503, if the store is a database: a file
    /// cannot be interrupted
    #[arg(long, value_name = "DURATION", env = "PLANT_STORE_STORE_TIMEOUT", default_value = "5s")]
    pub store_timeout: Duration,

    /// How long a commit may run before new creates are refused with 503
    #[arg(
        long,
        value_name = "DURATION",
        env = "PLANT_STORE_COMMIT_TIMEOUT",
        default_value = "10s"
    )]
    pub commit_timeout: Duration,

    /// How long requests in flight may take once the server is told to stop
    #[arg(
        long,
        value_name = "DURATION",
        env = "PLANT_STORE_SHUTDOWN_TIMEOUT",
        default_value = "10s"
    )]
    pub shutdown_timeout: Duration,

    /// The least important records that the log holds
    #[arg(
        long,
        value_name = "LEVEL",
        env = "PLANT_STORE_LOG_LEVEL",
        default_value = "info",
        value_parser = PossibleValuesParser::new(["info", "warning", "error", "critical"])
            .map(|word| word.parse::<LogLevel>().expect("slog has these levels"))
    )]
    pub log_level: LogLevel,

    /// How many records a second the log holds of requests without an accepted token
    #[arg(long, value_name = "RECORDS", env = "PLANT_STORE_LOG_STRANGERS", default_value = "100")]
    pub log_strangers: u32,

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
        let url = &self.store.url;
        let largest = store::largest_plant(url);
        ensure!(
            self.max_body.as_u64() <= largest,
            "--max-body is {}, and {url} holds no plant of more than {largest} bytes",
            self.max_body,
        );
        let [body, all] = [self.max_body, self.max_bodies].map(bytes);
        ensure!(
            body <= largest_body(all),
            "--max-body is {}, and --max-bodies is only {}, of which an eighth is kept for small \
             bodies, and 24 KiB for a head",
            self.max_body,
            self.max_bodies,
        );
        Ok(())
    }

    /// The limits of bodies.
    pub fn bodies(&self) -> Bodies {
        let [size, all] = [self.max_body, self.max_bodies].map(bytes);
        Bodies::new(size, self.body_timeout.into(), all)
    }

    /// Where the first token goes, if this server may create the store.
    pub fn first_token(&self) -> FirstToken {
        if self.no_create { FirstToken::None } else { self.first_token.clone() }
    }

    /// How to start on the store. It is not created if its first token could not be written.
    pub fn start(&self) -> Start {
        Start {
            create: !self.no_create && self.first_token.fault().is_none(),
            without_wal: self.without_wal,
            without_fsync: self.without_fsync,
        }
    }

    /// The limits of a create's way through the store.
    pub fn limits(&self) -> CreateLimits {
        CreateLimits {
            queue: self.queue.get() as usize,
            store_timeout: self.store_timeout.into(),
            commit_timeout: self.commit_timeout.into(),
        }
    }

    /// The files of TLS, if the API is served over it.
    pub fn tls(&self) -> Option<TlsFiles> {
        let (cert, key) = (self.tls_cert.clone()?, self.tls_key.clone()?);
        Some(TlsFiles { cert, key })
    }
}

fn bytes(size: ByteSize) -> usize {
    usize::try_from(size.as_u64()).unwrap_or(usize::MAX)
}
