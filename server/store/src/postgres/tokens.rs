//! Reading and changing tokens.

use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use crate::postgres::error::PostgresError;
use crate::postgres::session::Session;
use crate::token::{StoredToken, TokenName};
use crate::token_row;

/// Reads all tokens in the order of their names. They are sorted here, because the database's order
/// depends on its locale.
pub async fn tokens(session: &Session) -> Result<Vec<StoredToken>, PostgresError> {
    let mut tokens = Vec::new();
    for row in session.client.query_typed(token_row::READ, &[]).await? {
        let name = row.try_get(0)?;
        let digest = row.try_get(1)?;
        let token =
            token_row::token(name, digest, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
        tokens.push(token?);
    }
    tokens.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    Ok(tokens)
}

/// Adds a token unless its name is taken. Returns whether it was added.
pub async fn add_token(session: &Session, token: &StoredToken) -> Result<bool, PostgresError> {
    let expires_at = token.expires_at.map(|expiry| expiry.timestamp());
    let values: [(&(dyn ToSql + Sync), Type); 5] = [
        (&token.name.as_str(), Type::TEXT),
        (&token.digest.0.as_slice(), Type::BYTEA),
        (&token.first_characters, Type::TEXT),
        (&token.created_at.timestamp(), Type::INT8),
        (&expires_at, Type::INT8),
    ];
    match session.client.execute_typed(token_row::ADD, &values).await {
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(false),
        added => Ok(added? == 1),
    }
}

/// Removes the token with that name. Returns whether there was one.
pub async fn revoke_token(session: &Session, name: &TokenName) -> Result<bool, PostgresError> {
    let values: [(&(dyn ToSql + Sync), Type); 1] = [(&name.as_str(), Type::TEXT)];
    Ok(session.client.execute_typed(token_row::REVOKE, &values).await? > 0)
}
