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

/// Adds tokens in one transaction unless a name is taken. Returns whether they were added.
pub async fn add_tokens(session: &Session, tokens: &[StoredToken]) -> Result<bool, PostgresError> {
    session.client.batch_execute("BEGIN").await?;
    for token in tokens {
        match add_token(session, token).await {
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                session.client.batch_execute("ROLLBACK").await?;
                return Ok(false);
            }
            added => added?,
        };
    }
    session.client.batch_execute("COMMIT").await?;
    Ok(true)
}

async fn add_token(session: &Session, token: &StoredToken) -> Result<u64, tokio_postgres::Error> {
    let expires_at = token.expires_at.map(|expiry| expiry.timestamp());
    let values: [(&(dyn ToSql + Sync), Type); 5] = [
        (&token.name.as_str(), Type::TEXT),
        (&token.digest.0.as_slice(), Type::BYTEA),
        (&token.first_characters, Type::TEXT),
        (&token.created_at.timestamp(), Type::INT8),
        (&expires_at, Type::INT8),
    ];
    session.client.execute_typed(&token_row::add("tokens"), &values).await
}

/// Removes the token with that name. Returns whether there was one.
pub async fn revoke_token(session: &Session, name: &TokenName) -> Result<bool, PostgresError> {
    let values: [(&(dyn ToSql + Sync), Type); 1] = [(&name.as_str(), Type::TEXT)];
    Ok(session.client.execute_typed(token_row::REVOKE, &values).await? > 0)
}
