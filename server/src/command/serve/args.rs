//! The flags of `plant-store serve`, each with its default.

use std::net::SocketAddr;
use std::num::NonZeroU32;

use bytesize::ByteSize;
use clap::Arg;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::value_parser;
use humantime::Duration;

use crate::command::serve::address::parse_address;
use crate::command::serve::bounds::{body_size, store_timeout, time_limit};
use crate::command::serve::tls::TlsFiles;
use crate::command::shared::store_args::StoreArgs;
use crate::command::shared::variable;
use crate::log::{LogFormat, LogLevel};

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
#[command(mut_args(with_variable))]
pub struct Args {
    /// Address to listen on; port 0 takes any free one
    #[arg(
        long,
        value_name = "ADDRESS",
        value_parser = parse_address,
        default_value = "127.0.0.1:8080"
    )]
    pub listen: SocketAddr,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Where the first token of a new store goes
    #[arg(long, value_name = "WHERE", default_value = "print")]
    pub first_token: FirstToken,

    #[command(flatten)]
    pub tls: Option<TlsFiles>,

    /// How many threads speak HTTP [default: chosen from the processor's cores]
    #[arg(long, value_name = "THREADS", value_parser = value_parser!(u16).range(1..=256))]
    pub http_threads: Option<u16>,

    /// Start only on a store that is there already
    #[arg(long)]
    pub no_create: bool,

    /// Address to serve /metrics, /live, /ready and /openapi.json on, to everybody who can reach it:
    /// bind it to loopback or to a private network [default: none]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub metrics: Option<SocketAddr>,

    /// Largest request body
    #[arg(long, value_name = "SIZE", value_parser = body_size, default_value = "64KiB")]
    pub max_body: ByteSize,

    /// How many creates may be in the service at a time; one token may have half of them. The next
    /// ones are refused with `error` 503
    #[arg(long, value_name = "CREATES", value_parser = count(), default_value = "1024")]
    pub max_creates: NonZeroU32,

    /// How long a request body may take to arrive
    #[arg(long, value_name = "DURATION", value_parser = time_limit, default_value = "10s")]
    pub body_timeout: Duration,

    /// How many creates per second each token may send to this server, a tenth of them at once; the
    /// next ones are refused with `error` 429 [default: any]
    #[arg(long, value_name = "CREATES", value_parser = count())]
    pub max_rate: Option<NonZeroU32>,

    /// How long a create may wait for the store until it is refused with `error` 503; it may be
    /// stored or not
    #[arg(long, value_name = "DURATION", value_parser = store_timeout, default_value = "5s")]
    pub store_timeout: Duration,

    /// How long requests in flight may take once the server is told to stop
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub shutdown_timeout: Duration,

    /// The least important records that the log holds; requests without a token of the store are
    /// recorded at `debug`
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        value_parser = PossibleValuesParser::new(["debug", "info", "warning", "error", "critical"])
            .map(|word| word.parse::<LogLevel>().expect("slog has these levels"))
    )]
    pub log_level: LogLevel,

    /// How the log is written [default: text on a terminal, json elsewhere]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// At least one.
fn count() -> impl TypedValueParser<Value = NonZeroU32> {
    value_parser!(u32).range(1..).try_map(NonZeroU32::try_from)
}

/// Each flag can be set in the environment.
fn with_variable(flag: Arg) -> Arg {
    let variable = variable::of_flag(flag.get_long().expect("each is long"));
    flag.env(variable)
}
