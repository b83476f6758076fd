//! The flags of `plant-store serve` and their defaults.

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

/// What to do with the first token of a new store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FirstToken {
    /// Issue a token and print it to standard output, in a command that uses it
    Print,
    /// Issue no token
    None,
}

/// Serve the API until SIGTERM or SIGINT
///
/// If the store does not exist, it is created, and a first token is issued and printed.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_args(with_variable))]
pub struct Args {
    /// Address to listen on; port 0 selects any free port
    #[arg(
        long,
        value_name = "ADDRESS",
        value_parser = parse_address,
        default_value = "127.0.0.1:8080"
    )]
    pub listen: SocketAddr,

    #[command(flatten)]
    pub store: StoreArgs,

    /// What to do with the first token of a new store
    #[arg(long, value_name = "WHERE", default_value = "print")]
    pub first_token: FirstToken,

    #[command(flatten)]
    pub tls: Option<TlsFiles>,

    /// Number of threads that serve HTTP [default: depends on the number of CPU cores]
    #[arg(long, value_name = "THREADS", value_parser = value_parser!(u16).range(1..=256))]
    pub http_threads: Option<u16>,

    /// Fail if the store does not exist, instead of creating it
    #[arg(long)]
    pub no_create: bool,

    /// Address of the admin listener, which serves /metrics, /live, /ready and /openapi.json to
    /// everybody who can reach it: bind it to loopback or to a private network [default: none]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub metrics: Option<SocketAddr>,

    /// Maximum size of a request body
    #[arg(long, value_name = "SIZE", value_parser = body_size, default_value = "64KiB")]
    pub max_body: ByteSize,

    /// Maximum number of creates in the service at a time; one token may have half of them. Further
    /// creates are refused with `error` 503
    #[arg(long, value_name = "CREATES", value_parser = positive(), default_value = "1024")]
    pub max_creates: NonZeroU32,

    /// How long a request body may take to arrive
    #[arg(long, value_name = "DURATION", value_parser = time_limit, default_value = "10s")]
    pub body_timeout: Duration,

    /// How long a create may wait for the store before it is refused with `error` 503; the plant
    /// may or may not be stored
    #[arg(long, value_name = "DURATION", value_parser = store_timeout, default_value = "5s")]
    pub store_timeout: Duration,

    /// Grace period for requests in flight when the server stops
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub shutdown_timeout: Duration,

    /// Minimum level of the records in the log; requests without a token of this store are logged
    /// at `debug`
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        value_parser = PossibleValuesParser::new(["debug", "info", "warning", "error", "critical"])
            .map(|word| word.parse::<LogLevel>().expect("slog has these levels"))
    )]
    pub log_level: LogLevel,

    /// Format of the log [default: text on a terminal, json elsewhere]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// Parses an integer that is at least 1.
fn positive() -> impl TypedValueParser<Value = NonZeroU32> {
    value_parser!(u32).range(1..).try_map(NonZeroU32::try_from)
}

/// Adds the environment variable of a flag.
fn with_variable(flag: Arg) -> Arg {
    let variable = variable::for_flag(flag.get_long().expect("every flag has a long name"));
    flag.env(variable)
}
