//! The flags of `serve`, their defaults and their variables.

use std::net::{SocketAddr, ToSocketAddrs};

use clap::Arg;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use humantime::Duration;

use crate::command::serve::tls::TlsFiles;
use crate::command::shared::StoreArgs;
use crate::http::Limits;
use crate::log::{LogFormat, LogLevel};

/// What to do with the first token of a new store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FirstToken {
    /// Issue a token and print it to standard output, with a command that uses it
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

    /// Whether to issue a first token for a new store, and print it
    #[arg(long, value_name = "TOKEN", default_value = "print")]
    pub first_token: FirstToken,

    #[command(flatten)]
    pub tls: Option<TlsFiles>,

    /// Fail if the store does not exist, instead of creating it
    #[arg(long)]
    pub no_create: bool,

    /// Address of the admin listener, which serves /metrics, /live and /ready to everybody who can
    /// reach it: bind it to loopback or to a private network [default: none]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub metrics: Option<SocketAddr>,

    #[command(flatten)]
    pub limits: Limits,

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

/// Adds the environment variable of a flag, without the prefix of the service: the variable of
/// `--max-body` ends in `MAX_BODY`.
fn with_variable(flag: Arg) -> Arg {
    let name = flag.get_long().expect("every flag has a long name");
    let variable = name.replace('-', "_").to_uppercase();
    flag.env(variable)
}

/// Parses an IP address or a host name, followed by a port. If a name such as localhost has several
/// addresses, returns an IPv4 address, because every client that resolves the name tries it.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    const EXPECTED: &str = "expected an address and a port, such as 127.0.0.1:8080";
    let resolved = text.to_socket_addrs().map_err(|error| format!("{error}; {EXPECTED}"))?;
    let addresses: Vec<_> = resolved.collect();
    let ipv4 = addresses.iter().find(|address| address.is_ipv4());
    let unknown = || format!("the name resolves to no address; {EXPECTED}");
    ipv4.or(addresses.first()).copied().ok_or_else(unknown)
}
