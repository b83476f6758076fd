//! A plant as a row of the table `plants`: the one place, beside the schema, that names its
//! columns.
//!
//! The patterns name every member, so the compiler finds the places that a new one needs.

use rusqlite::{CachedStatement, Connection, Params, Row};

use crate::types::{NewPlant, Plant};

/// Adds a plant, unless its id is taken. Its parameters are [`values`].
pub fn insert(connection: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    connection.prepare_cached(
        "INSERT INTO plants (id, name, tag) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING",
    )
}

/// Whether the plant of that id is this very one. Its parameters are [`values`].
pub fn same(connection: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    connection.prepare_cached("SELECT name = ?2 AND tag IS ?3 FROM plants WHERE id = ?1")
}

/// The rows from an id on, in the order of the ids. [`plant`] reads them.
pub fn from_id(connection: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    connection.prepare_cached("SELECT id, name, tag FROM plants WHERE id >= ?1 ORDER BY id")
}

/// The parameters of [`insert`] and [`same`].
pub fn values(plant: &NewPlant) -> impl Params {
    let NewPlant { id, plant: Plant { name, tag } } = plant;
    (id, name, tag)
}

/// The plant of a row.
pub fn plant(row: &Row<'_>) -> rusqlite::Result<NewPlant> {
    Ok(NewPlant { id: row.get(0)?, plant: Plant { name: row.get(1)?, tag: row.get(2)? } })
}
