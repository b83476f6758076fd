//! The flags that every command takes: where the service is, and the token.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use clap::{ArgMatches, FromArgMatches};
use reqwest::{Certificate, Url};

use crate::{Client, InvalidClient, client_with, settings};

/// The URL of a service that was started without flags.
const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// The permission bits of the group and of others (chmod(2)).
const GROUP_AND_OTHERS: u32 = 0o077;

/// How a command reaches the service.
#[derive(clap::Args)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// URL of the service, {base_url} in the contract
    #[arg(
        long,
        env = "PLANTS_URL",
        default_value = DEFAULT_URL,
        hide_env_values = true,
        global = true
    )]
    url: String,
    /// File that contains the token, instead of the variable PLANTS_TOKEN. Other users must not be
    /// able to read it, unless root owns it, as with a mounted secret
    #[arg(long, value_name = "FILE", env = "PLANTS_TOKEN_FILE", global = true)]
    token_file: Option<OsString>,
    /// Trust only the certificate authorities in this file (PEM)
    #[arg(long, value_name = "FILE", env = "PLANTS_CA_FILE", global = true)]
    ca_file: Option<OsString>,
}

impl Connection {
    /// Reads the flags. An empty variable counts as unset.
    pub fn resolve(matches: &ArgMatches) -> Result<Self> {
        let mut flags = Self::from_arg_matches(matches)?;
        if flags.url.is_empty() {
            DEFAULT_URL.clone_into(&mut flags.url);
        }
        flags.token_file = flags.token_file.filter(|file| !file.is_empty());
        flags.ca_file = flags.ca_file.filter(|file| !file.is_empty());
        Ok(flags)
    }

    /// Builds a client that sends each request once.
    pub fn client(&self) -> Result<Client> {
        let (token, origin) = self.token()?;
        let is_http = Url::parse(&self.url).is_ok_and(|url| url.scheme() == "http");
        let settings = match &self.ca_file {
            Some(file) => settings().tls_certs_only(authorities(Path::new(file))?),
            // The system's authorities are not read, because a machine may have none.
            None if is_http => settings().tls_certs_only([]),
            None => settings(),
        };
        client_with(settings, &self.url, move || token.clone()).map_err(|error| match error {
            InvalidClient::Url(_) => anyhow!(error).context("cannot use --url or PLANTS_URL"),
            InvalidClient::Token => anyhow!(error).context(format!("cannot use {origin}")),
            error => error.into(),
        })
    }

    /// Returns the token, and the flag or variable that it came from.
    fn token(&self) -> Result<(String, String)> {
        if let Some(file) = &self.token_file {
            let file = Path::new(file);
            let origin = format!("{} (--token-file or PLANTS_TOKEN_FILE)", file.display());
            let token = read(file).with_context(|| format!("cannot use {origin}"))?;
            return Ok((token, origin));
        }
        let token = env::var("PLANTS_TOKEN").unwrap_or_default();
        ensure!(!token.is_empty(), "there is no token: set PLANTS_TOKEN or --token-file");
        Ok((token, "PLANTS_TOKEN".to_owned()))
    }
}

fn authorities(file: &Path) -> Result<Vec<Certificate>> {
    let origin = || format!("cannot use {} (--ca-file)", file.display());
    let pem = fs::read(file).with_context(origin)?;
    let certificates = Certificate::from_pem_bundle(&pem).unwrap_or_default();
    ensure!(!certificates.is_empty(), "{}: it contains no certificate in PEM", origin());
    Ok(certificates)
}

/// Reads a token.
fn read(file: &Path) -> Result<String> {
    let token = fs::read_to_string(file)?;
    let metadata = fs::metadata(file)?;
    // Files of root are exempt: the mode of a mounted secret cannot be changed.
    let is_private = metadata.uid() == 0 || metadata.mode() & GROUP_AND_OTHERS == 0;
    ensure!(is_private, "other users can read it: run chmod 600 on it");
    Ok(token.trim().to_owned())
}
