//! The table of token digests.

use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use crate::store::postgres::error::PostgresError;
use crate::store::postgres::session::Session;
use crate::store::token_row::{self, COLUMNS};
use crate::token::{StoredToken, TokenName};

/// Every token, in the order of the names. The order is made here: that of the database depends on
/// its locale.
pub async fn all(session: &Session) -> Result<Vec<StoredToken>, PostgresError> {
    let query = format!("SELECT {COLUMNS} FROM tokens");
    let mut tokens = Vec::new();
    for row in session.client.query_typed(&query, &[]).await? {
        let (name, digest) = (row.try_get(0)?, row.try_get(1)?);
        let token =
            token_row::token(name, digest, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
        tokens.push(token.map_err(|malformed| PostgresError::Unfit(malformed.into()))?);
    }
    tokens.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    Ok(tokens)
}

/// Adds a token. Returns false if its name is taken.
pub async fn add(session: &Session, token: &StoredToken) -> Result<bool, PostgresError> {
    let insert = format!("INSERT INTO tokens ({COLUMNS}) VALUES ($1, $2, $3, $4, $5)");
    let expires_at = token.expires_at.map(|expiry| expiry.timestamp());
    let values: [(&(dyn ToSql + Sync), Type); 5] = [
        (&token.name.as_str(), Type::TEXT),
        (&token.digest.0.as_slice(), Type::BYTEA),
        (&token.first_characters, Type::TEXT),
        (&token.created_at.timestamp(), Type::INT8),
        (&expires_at, Type::INT8),
    ];
    match session.client.execute_typed(&insert, &values).await {
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(false),
        added => Ok(added.map(|_| true)?),
    }
}

/// Removes a token. Returns false if there is none of that name.
pub async fn revoke(session: &Session, name: &TokenName) -> Result<bool, PostgresError> {
    let revoke = "DELETE FROM tokens WHERE name = $1";
    Ok(session.client.execute_typed(revoke, &[(&name.as_str(), Type::TEXT)]).await? > 0)
}
