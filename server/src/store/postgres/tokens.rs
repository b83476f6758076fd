//! The tables of token digests, of their changes, and of the servers that have read them.

use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use crate::store::postgres::error::PostgresError;
use crate::store::postgres::session::Session;
use crate::store::token_row::{self, COLUMNS};
use crate::token::{StoredToken, TokenName};

/// A server that has not confirmed the tokens for this time counts as gone: it was killed, or is cut
/// off, and a command that changes the tokens does not wait for it.
pub const GONE_AFTER: Duration = Duration::from_secs(4);

/// The servers that run. Each says so every second, unless a slow statement delays it.
pub fn servers() -> String {
    let seconds = GONE_AFTER.as_secs();
    format!("SELECT 1 FROM servers WHERE seen_at > now() - interval '{seconds} seconds'")
}

/// Every token, in the order of the names. The order is made here: that of the database depends on
/// its locale.
pub async fn all(session: &Session) -> Result<Vec<StoredToken>, PostgresError> {
    let query = format!("SELECT {COLUMNS} FROM tokens");
    let rows = session.client.query_typed(&query, &[]).await?;
    let mut tokens = rows.iter().map(token).collect::<Result<Vec<_>, _>>()?;
    tokens.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    Ok(tokens)
}

/// Adds a token whose name is new.
pub async fn insert(session: &Session, token: &StoredToken) -> Result<(), PostgresError> {
    let expires_at = token.expires_at.map(|expiry| expiry.timestamp());
    let values: [(&(dyn ToSql + Sync), Type); 5] = [
        (&token.name.as_str(), Type::TEXT),
        (&token.digest.0.as_slice(), Type::BYTEA),
        (&token.first_characters, Type::TEXT),
        (&token.created_at.timestamp(), Type::INT8),
        (&expires_at, Type::INT8),
    ];
    let insert = format!("INSERT INTO tokens ({COLUMNS}) VALUES ($1, $2, $3, $4, $5)");
    session.client.execute_typed(&insert, &values).await?;
    Ok(())
}

/// Adds a token. Returns false if its name is taken.
pub async fn add(session: &Session, token: &StoredToken) -> Result<bool, PostgresError> {
    match change(session, async || insert(session, token).await).await {
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            // If the answer to the first attempt was lost, the token is there already.
            Ok(all(session).await?.iter().any(|kept| kept.digest == token.digest))
        }
        done => done.map(|()| true),
    }
}

/// Removes a token. Returns false if there is none of that name.
pub async fn revoke(session: &Session, name: &TokenName) -> Result<bool, PostgresError> {
    let mut revoked = 0;
    change(session, async || {
        let values: [(&(dyn ToSql + Sync), Type); 1] = [(&name.as_str(), Type::TEXT)];
        let revoke = "DELETE FROM tokens WHERE name = $1";
        revoked = session.client.execute_typed(revoke, &values).await?;
        Ok(())
    })
    .await?;
    Ok(revoked > 0)
}

/// Changes the tokens in a transaction, and counts the change.
async fn change(
    session: &Session,
    change: impl AsyncFnOnce() -> Result<(), PostgresError>,
) -> Result<(), PostgresError> {
    session.client.batch_execute("BEGIN").await?;
    let changed = async {
        change().await?;
        let count = "UPDATE token_changes SET made = made + 1 WHERE id = 1";
        session.client.execute_typed(count, &[]).await?;
        Ok(())
    };
    match changed.await {
        Ok(()) => Ok(session.client.batch_execute("COMMIT").await?),
        Err(error) => {
            session.client.batch_execute("ROLLBACK").await?;
            Err(error)
        }
    }
}

/// How often the tokens have changed.
pub async fn changes(session: &Session) -> Result<u32, PostgresError> {
    let row = session.row("SELECT made FROM token_changes WHERE id = 1").await?;
    Ok(u32::try_from(row.try_get::<_, i64>(0)?).unwrap_or(u32::MAX))
}

/// A server says that it has read the tokens after so many changes, and that it runs. Forgets the
/// servers that have been gone for long.
///
/// It need not survive a crash, so it waits for no sync.
pub async fn confirm(session: &Session, server: i64, changes: u32) -> Result<(), PostgresError> {
    session
        .client
        .batch_execute(&format!(
            "BEGIN;
            SET LOCAL synchronous_commit = off;
            INSERT INTO servers (id, confirmed, seen_at) VALUES ({server}, {changes}, now())
                ON CONFLICT (id) DO UPDATE
                SET confirmed = excluded.confirmed, seen_at = excluded.seen_at;
            DELETE FROM servers WHERE seen_at < now() - interval '1 minute';
            COMMIT"
        ))
        .await?;
    Ok(())
}

/// A server says that it stops.
pub async fn leave(session: &Session, server: i64) -> Result<(), PostgresError> {
    let leave = format!("DELETE FROM servers WHERE id = {server}");
    session.client.execute_typed(&leave, &[]).await?;
    Ok(())
}

/// Whether every server that runs has read the tokens after the last change.
pub async fn are_confirmed(session: &Session) -> Result<bool, PostgresError> {
    let query = format!(
        "SELECT NOT EXISTS ({} AND confirmed <> (SELECT made FROM token_changes WHERE id = 1))",
        servers()
    );
    Ok(session.row(&query).await?.try_get(0)?)
}

fn token(row: &Row) -> Result<StoredToken, PostgresError> {
    let name: &str = row.try_get(0)?;
    let digest: &[u8] = row.try_get(1)?;
    token_row::token(name, digest, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?)
        .map_err(|malformed| PostgresError::NotFit(malformed.to_string()))
}
