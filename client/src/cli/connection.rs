//! Where the service is, and the token: the flags that every command takes.

use std::fs::{self, File};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{Client, ClientOptions, RetryingClient};
use anyhow::{Context, Result};

/// The flags.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// Where the service is
    #[arg(long, env = "PLANTS_URL", default_value = "http://127.0.0.1:8080", global = true)]
    url: String,
    /// The bearer token. Other users of this machine see what a command is given: better use the
    /// variable or a file
    #[arg(long, env = "PLANTS_TOKEN", hide_env_values = true, global = true)]
    token: Option<String>,
    /// A file that holds the token, instead of --token. It must not be readable for others
    #[arg(long, value_name = "FILE", env = "PLANTS_TOKEN_FILE", global = true)]
    token_file: Option<PathBuf>,
    /// Trust the authorities in this file (PEM), and no others
    #[arg(long, value_name = "FILE", env = "PLANTS_CA_FILE", global = true)]
    ca_file: Option<PathBuf>,
}

impl Connection {
    /// Where the service is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A client that sends each request once.
    pub fn client(&self) -> Result<Client> {
        Ok(self.options()?.client(&self.token()?)?)
    }

    /// A client that repeats what may pass, and reads the file of the token again when the service
    /// refuses the token.
    pub async fn retrying_client(&self) -> Result<RetryingClient> {
        let connection = self.clone();
        let token = move || std::future::ready(connection.token().map_err(Into::into));
        Ok(RetryingClient::new(self.options()?, token).await?)
    }

    fn options(&self) -> Result<ClientOptions> {
        let read = |file: &PathBuf| {
            fs::read(file).with_context(|| format!("cannot read {}", file.display()))
        };
        let authorities = self.ca_file.as_ref().map(read).transpose()?;
        Ok(ClientOptions { authorities, ..ClientOptions::new(&self.url) })
    }

    fn token(&self) -> Result<String> {
        match &self.token_file {
            Some(file) => token_of(file).with_context(|| format!("cannot use {}", file.display())),
            None => self.token.clone().context("give a token: PLANTS_TOKEN or --token-file"),
        }
    }
}

fn token_of(file: &Path) -> Result<String> {
    let file = File::open(file)?;
    #[cfg(unix)]
    anyhow::ensure!(
        file.metadata()?.permissions().mode().trailing_zeros() >= 6,
        "others may read it: chmod 600"
    );
    Ok(io::read_to_string(file)?.trim().to_owned())
}
