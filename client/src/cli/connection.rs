//! Where the service is, and the token: the flags that every command takes.

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

/// Where a service is that is started without flags.
const URL: &str = "http://127.0.0.1:8080";

/// The flags.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// Where the service is: the {base_url} of the contract
    #[arg(long, env = "PLANTS_URL", default_value = URL, global = true)]
    url: String,
    /// The bearer token. Other users of this machine see what a command is given: better use the
    /// variable or a file
    #[arg(long, env = "PLANTS_TOKEN", hide_env_values = true, global = true)]
    token: Option<String>,
    /// A file that holds the token, instead of --token. Others must not be able to read it, unless
    /// it is root's, such as a mounted secret
    #[arg(
        long,
        value_name = "FILE",
        env = "PLANTS_TOKEN_FILE",
        global = true,
        value_parser = path()
    )]
    token_file: Option<PathBuf>,
    /// Trust the authorities in this file (PEM), and no others
    #[arg(long, value_name = "FILE", env = "PLANTS_CA_FILE", global = true, value_parser = path())]
    ca_file: Option<PathBuf>,
}

impl Connection {
    /// The flags. One that is given wins over a variable, and an empty variable is none.
    pub fn of(matches: &ArgMatches) -> Result<Self> {
        let mut flags = Self::from_arg_matches(matches)?;
        let is_given = |flag| matches.value_source(flag) == Some(ValueSource::CommandLine);
        if flags.url.is_empty() && !is_given("url") {
            URL.clone_into(&mut flags.url);
        }
        let no_path = Path::new("");
        flags.ca_file = flags.ca_file.filter(|file| file != no_path);
        flags.token_file = flags.token_file.filter(|file| file != no_path);
        flags.token = flags.token.filter(|token| !token.is_empty() || is_given("token"));
        match (is_given("token"), is_given("token_file")) {
            (true, false) => flags.token_file = None,
            (false, true) => flags.token = None,
            _ => {}
        }
        Ok(flags)
    }

    /// A client that sends each request once.
    pub fn client(&self) -> Result<Client> {
        let client = self.options()?.client(&self.token()?);
        client.map_err(|error| self.named(error))
    }

    /// A client that repeats what may pass, and reads the file of the token again when the service
    /// refuses the token.
    pub async fn retrying_client(&self) -> Result<RetryingClient> {
        let connection = self.clone();
        let token = move || std::future::ready(connection.token().map_err(Into::into));
        let client = RetryingClient::new(self.options()?, token).await;
        client.map_err(|error| self.named(error))
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
                bail!("two tokens are given: unset PLANTS_TOKEN or PLANTS_TOKEN_FILE")
            }
            (Some(file), None) => {
                token_of(file).with_context(|| format!("cannot use {}", self.source()))
            }
            (None, Some(token)) => Ok(token.clone()),
            (None, None) => bail!("give a token: PLANTS_TOKEN or --token-file"),
        }
    }

    /// Where the token is from.
    pub fn source(&self) -> String {
        match &self.token_file {
            Some(file) => format!("{} (--token-file or PLANTS_TOKEN_FILE)", file.display()),
            None => "--token or PLANTS_TOKEN".to_owned(),
        }
    }

    /// The error, and which flag or variable has what is wrong.
    fn named(&self, error: InvalidClient) -> anyhow::Error {
        let source = match (&error, &self.ca_file) {
            // Its text says that no token can be had, its source why.
            (InvalidClient::Provider(why), _) => return anyhow!(with_causes(why.as_ref())),
            (InvalidClient::Url { .. }, _) => "--url or PLANTS_URL".to_owned(),
            (InvalidClient::Token, _) => self.source(),
            (InvalidClient::Authority, Some(file)) => format!("{} (--ca-file)", file.display()),
            _ => return error.into(),
        };
        anyhow::Error::from(error).context(format!("cannot use {source}"))
    }
}

/// Clap alone refuses an empty path, also that of a variable.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// The bits of a mode that are for the group and for others (chmod(2)).
#[cfg(unix)]
const GROUP_AND_OTHERS: u32 = 0o077;

fn token_of(path: &Path) -> Result<String> {
    let mut file = File::open(path).context("write the token into a file of this name")?;
    #[cfg(unix)]
    {
        let metadata = file.metadata()?;
        // What root owns is as root wants it. The mode of a mounted secret cannot be changed.
        let is_private = metadata.uid() == 0 || metadata.mode() & GROUP_AND_OTHERS == 0;
        ensure!(is_private, "others may read it: chmod 600");
    }
    let mut token = Vec::new();
    file.read_to_end(&mut token)?;
    Ok(String::from_utf8_lossy(&token).trim().to_owned())
}
