//! The flags that every command takes: where the service is, and the token.

use std::fs::{self, File};
use std::io::Read;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};

use crate::causes::with_causes;
use crate::{Client, ClientOptions, InvalidClient, RetryingClient};

/// The URL of a service that was started without flags.
const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// How a command reaches the service.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// URL of the service, {base_url} in the contract
    #[arg(long, env = "PLANTS_URL", default_value = DEFAULT_URL, global = true)]
    url: String,
    /// Bearer token. Other users of this machine can see the arguments of a command, so prefer the
    /// variable or --token-file
    #[arg(long, env = "PLANTS_TOKEN", hide_env_values = true, global = true)]
    token: Option<String>,
    /// File that contains the token, instead of --token. Other users must not be able to read it,
    /// unless root owns it, as with a mounted secret
    #[arg(
        long,
        value_name = "FILE",
        env = "PLANTS_TOKEN_FILE",
        global = true,
        value_parser = path()
    )]
    token_file: Option<PathBuf>,
    /// Trust only the certificate authorities in this file (PEM)
    #[arg(long, value_name = "FILE", env = "PLANTS_CA_FILE", global = true, value_parser = path())]
    ca_file: Option<PathBuf>,
}

impl Connection {
    /// Reads the flags. A flag on the command line wins over a variable, and an empty variable
    /// counts as unset.
    pub fn resolve(matches: &ArgMatches) -> Result<Self> {
        let mut flags = Self::from_arg_matches(matches)?;
        let is_given = |flag| matches.value_source(flag) == Some(ValueSource::CommandLine);
        if flags.url.is_empty() && !is_given("url") {
            DEFAULT_URL.clone_into(&mut flags.url);
        }
        let empty = Path::new("");
        flags.ca_file = flags.ca_file.filter(|file| file != empty);
        flags.token_file = flags.token_file.filter(|file| file != empty);
        flags.token = flags.token.filter(|token| !token.is_empty() || is_given("token"));
        match (is_given("token"), is_given("token_file")) {
            (true, false) => flags.token_file = None,
            (false, true) => flags.token = None,
            _ => {}
        }
        Ok(flags)
    }

    /// Builds a client that sends each request once.
    pub fn client(&self) -> Result<Client> {
        let client = self.options()?.client(&self.token()?);
        client.map_err(|error| self.explain(error))
    }

    /// Builds a client that retries requests, and reads the token file again if the service refuses
    /// the token.
    pub async fn retrying_client(&self) -> Result<RetryingClient> {
        let connection = self.clone();
        let token = move || std::future::ready(connection.token().map_err(Into::into));
        let client = RetryingClient::new(self.options()?, token).await;
        client.map_err(|error| self.explain(error))
    }

    fn options(&self) -> Result<ClientOptions> {
        let read = |file: &PathBuf| {
            fs::read(file).with_context(|| format!("cannot read {} (--ca-file)", file.display()))
        };
        let mut options = ClientOptions::new(&self.url);
        options.authorities = self.ca_file.as_ref().map(read).transpose()?;
        Ok(options)
    }

    fn token(&self) -> Result<String> {
        match (&self.token_file, &self.token) {
            (Some(_), Some(_)) => {
                bail!(
                    "two tokens are given: use only one of --token (PLANTS_TOKEN) and --token-file \
                     (PLANTS_TOKEN_FILE)"
                )
            }
            (Some(file), None) => {
                read_token(file).with_context(|| format!("cannot use {}", self.token_source()))
            }
            (None, Some(token)) => Ok(token.clone()),
            (None, None) => bail!("there is no token: set PLANTS_TOKEN or --token-file"),
        }
    }

    /// Names the flag or variable that the token came from.
    pub fn token_source(&self) -> String {
        match &self.token_file {
            Some(file) => format!("{} (--token-file or PLANTS_TOKEN_FILE)", file.display()),
            None => "--token or PLANTS_TOKEN".to_owned(),
        }
    }

    /// Adds the flag or variable that caused the error.
    fn explain(&self, error: InvalidClient) -> anyhow::Error {
        let origin = match (&error, &self.ca_file) {
            // The source names the flag already, so the text "cannot get a token" adds nothing.
            (InvalidClient::Provider(source), _) => return anyhow!(with_causes(source.as_ref())),
            (InvalidClient::Url { .. }, _) => "--url or PLANTS_URL".to_owned(),
            (InvalidClient::Token, _) => self.token_source(),
            (InvalidClient::Authority, Some(file)) => format!("{} (--ca-file)", file.display()),
            _ => return error.into(),
        };
        anyhow::Error::from(error).context(format!("cannot use {origin}"))
    }
}

/// Parses a path that may be empty. clap's own parser refuses an empty path, even in a variable.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// The permission bits of the group and of others (chmod(2)).
#[cfg(unix)]
const GROUP_AND_OTHERS: u32 = 0o077;

fn read_token(path: &Path) -> Result<String> {
    let mut file = File::open(path).context("write the token to this file")?;
    #[cfg(unix)]
    {
        let metadata = file.metadata()?;
        // Files of root are exempt: the mode of a mounted secret cannot be changed.
        let is_private = metadata.uid() == 0 || metadata.mode() & GROUP_AND_OTHERS == 0;
        ensure!(is_private, "other users can read it: run chmod 600 on it");
    }
    let mut token = Vec::new();
    file.read_to_end(&mut token)?;
    Ok(String::from_utf8_lossy(&token).trim().to_owned())
}
