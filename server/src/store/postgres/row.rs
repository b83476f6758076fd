//! A plant as a row of the table `plants`: the one place, beside the schema, that names its
//! columns.
//!
//! The patterns name every member, so the compiler finds the places that a new one needs. Texts are
//! `bytea`: `text` cannot hold U+0000
//! (<https://www.postgresql.org/docs/current/datatype-character.html>).

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::store::postgres::error::PostgresError;
use crate::types::{NewPlant, Plant};

/// The types of a plant's columns.
pub const TYPES: [Type; 3] = [Type::INT8, Type::BYTEA, Type::BYTEA];

/// The columns, as a statement names them.
pub const COLUMNS: &str = "id, name, tag";

/// All plants, in the order of their ids. [`plant`] reads the rows. `held` are the columns that the
/// store has: one that an older store lacks is NULL.
pub fn in_order(held: &[String]) -> String {
    let column = |(name, kind): (&str, &Type)| match held.iter().any(|held| held == name) {
        true => name.to_owned(),
        false => format!("NULL::{kind}"),
    };
    let columns: Vec<_> = COLUMNS.split(", ").zip(&TYPES).map(column).collect();
    format!("SELECT {} FROM plants ORDER BY id", columns.join(", "))
}

/// The plants of these ids. [`plant`] reads the rows.
pub fn by_id() -> String {
    format!("SELECT {COLUMNS} FROM plants WHERE id = ANY($1)")
}

/// Adds that many plants with different ids, but none whose id is taken, and returns the ids of
/// those that were added. Its parameters are the [`values`] of each.
///
/// `VALUES`, because a distributed engine takes the rows of an `unnest` through every node.
///
/// A row whose id is taken is locked by the `DO UPDATE`, and not changed. So the transaction waits
/// at its commit until that row is as durable as its own, also if a standby has to have it; a
/// transaction that has only read the row would not wait. `FOR KEY SHARE` would do the same on one
/// machine, but not over the shards of Citus
/// (<https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT>).
pub fn insert(plants: usize) -> String {
    let row = |at: usize| {
        let before = at * TYPES.len();
        let parameters: Vec<_> = (1..=TYPES.len()).map(|n| format!("${}", before + n)).collect();
        format!("({})", parameters.join(", "))
    };
    let rows: Vec<_> = (0..plants).map(row).collect();
    format!(
        "INSERT INTO plants ({COLUMNS}) VALUES {} \
         ON CONFLICT (id) DO UPDATE SET name = plants.name WHERE false RETURNING id",
        rows.join(", ")
    )
}

/// The values of a plant's columns.
pub fn values(plant: &NewPlant) -> [Value<'_>; TYPES.len()] {
    let NewPlant { id, plant: Plant { name, tag } } = plant;
    [Value::Number(*id), Value::Text(Some(name)), Value::Text(tag.as_deref())]
}

/// The plant of a row.
pub fn plant(row: &Row) -> Result<NewPlant, PostgresError> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| PostgresError::NotText);
    let plant = Plant {
        name: text(row.try_get(1)?)?,
        tag: row.try_get::<_, Option<&[u8]>>(2)?.map(text).transpose()?,
    };
    Ok(NewPlant { id: row.try_get(0)?, plant })
}

/// A value of a column, borrowed from a plant.
#[derive(Debug)]
pub enum Value<'a> {
    Number(i64),
    Text(Option<&'a str>),
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        column: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Number(number) => number.to_sql(column, out),
            Self::Text(text) => text.map(str::as_bytes).to_sql(column, out),
        }
    }

    fn accepts(column: &Type) -> bool {
        TYPES.contains(column)
    }

    to_sql_checked!();
}
