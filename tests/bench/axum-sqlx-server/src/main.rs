//! What one would write with axum and sqlx: each plant is a commit of its own.
//!
//! A 200 is durable in SQLite, as the service's is. It has no credentials, no limits, no strict
//! reader and no log.

use std::error::Error;

use axum::extract::{Json, State};
use axum::http::StatusCode;
use axum::{Router, routing::post};
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

const CREATE: &str = "CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)";
const INSERT: &str = "INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";

#[derive(Deserialize)]
struct NewPlant {
    id: i64,
    name: String,
    tag: Option<String>,
}

#[derive(Serialize)]
struct Plant {
    name: String,
    tag: Option<String>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = SqliteConnectOptions::new()
        .filename("plants.db")
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    // SQLite has one writer at a time: more connections would only wait for each other.
    let plants = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    sqlx::query(CREATE).execute(&plants).await?;
    let app = Router::new().route("/plants", post(create_plant)).with_state(plants);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}

async fn create_plant(
    State(plants): State<SqlitePool>,
    Json(NewPlant { id, name, tag }): Json<NewPlant>,
) -> Result<Json<Plant>, StatusCode> {
    let inserted = sqlx::query(INSERT)
        .bind(id)
        .bind(&name)
        .bind(&tag)
        .execute(&plants)
        .await
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    match inserted.rows_affected() {
        1 => Ok(Json(Plant { name, tag })),
        _ => Err(StatusCode::CONFLICT),
    }
}
