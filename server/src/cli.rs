//! The command line, as clap reads it. It says what may be asked for and decides nothing.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::command::token::TokenName;
use crate::log::LogFormat;
use crate::store::StoreUrl;

/// A plant store: POST /plants, durably.
#[derive(Debug, Parser)]
#[command(name = "plant-store", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API until SIGTERM or SIGINT
    ///
    /// A store that does not exist is created, and a first token is issued and printed.
    Serve(ServeArgs),
    /// Issue, list and revoke tokens, also while the server runs
    #[command(subcommand)]
    Token(TokenCommand),
    /// Write every plant as a JSON object on a line of its own, in the order of the ids
    Export(StoreArgs),
}

/// Which store to work on.
#[derive(Args, Clone, Debug)]
pub struct StoreArgs {
    /// Where the plants are kept
    #[arg(
        long,
        value_name = "URL",
        env = "PLANT_STORE_STORE",
        default_value = "sqlite:plant-store.db"
    )]
    pub store: StoreUrl,
}

/// The flags of `plant-store serve`.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// Address to listen on; port 0 takes any free one
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "PLANT_STORE_LISTEN",
        default_value = "127.0.0.1:8080"
    )]
    pub listen: SocketAddr,

    /// Which store.
    #[command(flatten)]
    pub store: StoreArgs,

    /// Address to serve Prometheus metrics on, to whoever reaches it: bind it to loopback or to a
    /// private network [default: none]
    #[arg(long, value_name = "ADDRESS", env = "PLANT_STORE_METRICS")]
    pub metrics: Option<SocketAddr>,

    /// Largest request body
    #[arg(long, value_name = "SIZE", env = "PLANT_STORE_MAX_BODY", default_value = "1MiB")]
    pub max_body: ByteSize,

    /// How long a request body may take to arrive
    #[arg(
        long,
        value_name = "DURATION",
        env = "PLANT_STORE_BODY_TIMEOUT",
        default_value = "10s",
        value_parser = humantime::parse_duration
    )]
    pub body_timeout: Duration,

    /// How many creates may wait to be committed; the next ones are refused with 503
    #[arg(long, value_name = "CREATES", env = "PLANT_STORE_QUEUE", default_value = "1024")]
    pub queue: NonZeroUsize,

    /// How long requests in flight may take once the server is told to stop
    #[arg(
        long,
        value_name = "DURATION",
        env = "PLANT_STORE_SHUTDOWN_TIMEOUT",
        default_value = "10s",
        value_parser = humantime::parse_duration
    )]
    pub shutdown_timeout: Duration,

    /// The least important records that the log holds
    #[arg(long, value_name = "LEVEL", env = "PLANT_STORE_LOG_LEVEL", default_value = "info")]
    pub log_level: LogLevel,

    /// How the log is written [default: text on a terminal, json elsewhere]
    #[arg(long, value_name = "FORMAT", env = "PLANT_STORE_LOG_FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// How important a record is, from the least to the most.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warning,
    Error,
    Critical,
}

impl From<LogLevel> for slog::Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Trace => Self::Trace,
            LogLevel::Debug => Self::Debug,
            LogLevel::Info => Self::Info,
            LogLevel::Warning => Self::Warning,
            LogLevel::Error => Self::Error,
            LogLevel::Critical => Self::Critical,
        }
    }
}

/// The commands of `plant-store token`.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Issue a token and print it, alone and for the only time
    Create {
        /// What to call it: in the list, in the log, and to revoke it
        name: TokenName,

        /// How long it is good for, such as 90d [default: until it is revoked]
        #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
        expires_in: Option<Duration>,

        /// Which store.
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Show every token's name, first characters, creation and expiry
    List {
        /// As a JSON array
        #[arg(long)]
        json: bool,

        /// Which store.
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Refuse a token from about a second later on
    Revoke {
        /// The token's name
        name: TokenName,

        /// Which store.
        #[command(flatten)]
        store: StoreArgs,
    },
}
