//! The password, if the URL has none: `PGPASSWORD`, else a passfile
//! (<https://www.postgresql.org/docs/current/libpq-pgpass.html>).
//!
//! It is read at each connect, so it may change while the service runs. It must not leave the
//! driver's configuration.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use nix::unistd::{User, geteuid};
use tokio_postgres::Config;

use crate::store::error::Cause;
use crate::store::postgres::url::{PostgresUrl, host_of};

/// The password for that host that the URL does not have, if there is one.
///
/// # Errors
///
/// There is a passfile that cannot be read, or that others may read.
pub fn of(url: &PostgresUrl, host: &Config) -> Result<Option<String>, Cause> {
    if host.get_password().is_some() {
        return Ok(None);
    }
    if let Ok(password) = env::var("PGPASSWORD")
        && !password.is_empty()
    {
        return Ok(Some(password));
    }
    let named = url.passfile().cloned().or_else(|| env::var_os("PGPASSFILE").map(PathBuf::from));
    let file = match named {
        Some(file) => file,
        None => match env::home_dir().map(|home| home.join(".pgpass")) {
            Some(file) if file.exists() => file,
            _ => return Ok(None),
        },
    };
    let text = read(&file).map_err(|cause| format!("cannot read {}: {cause}", file.display()))?;
    let database = host.get_dbname().unwrap_or_default();
    let user = host.get_user().map_or_else(whoami, str::to_owned);
    let (host, port) = host_of(host);
    let wanted = [host.as_str(), &port.to_string(), database, &user];
    Ok(text.lines().find_map(|line| password_of(line, wanted)))
}

/// The driver's own default for the user.
fn whoami() -> String {
    let user = User::from_uid(geteuid()).ok().flatten();
    user.map(|user| user.name).unwrap_or_default()
}

fn read(file: &Path) -> Result<String, Cause> {
    let mode = fs::metadata(file)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err("others may use it: chmod 600".into());
    }
    Ok(fs::read_to_string(file)?)
}

/// The password of a line `host:port:database:user:password`, if the others are those that are
/// wanted. A `*` fits everything; `\` stands before a `:` or a `\` that belongs to a value.
fn password_of(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.last_mut()?;
        match character {
            ':' => fields.push(String::new()),
            '\\' => last.extend(characters.next()),
            other => last.push(other),
        }
    }
    let [host, port, database, user, password] = fields.try_into().ok()?;
    let fits = [host, port, database, user]
        .iter()
        .zip(wanted)
        .all(|(found, wanted)| found == "*" || found == wanted);
    fits.then_some(password)
}

#[cfg(test)]
mod tests;
