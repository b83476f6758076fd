//! The statement that adds plants.

use tokio_postgres::types::Type;

/// The types of the columns.
pub const TYPES: [Type; 2] = [Type::INT8, Type::TEXT];

/// The statement that adds that many plants with different ids, but none whose id is taken, and
/// returns the ids of those that were added.
///
/// `VALUES`, because a distributed engine takes the rows of an `unnest` through every node.
///
/// A row whose id is taken is locked by the `DO UPDATE`, and not changed. So the transaction waits
/// at its commit until that row is as durable as its own, also if a standby has to have it; a
/// transaction that has only read the row would not wait. `FOR KEY SHARE` would do the same on one
/// machine, but not over the shards of Citus
/// (<https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT>).
pub fn insert(plants: usize) -> String {
    let values: Vec<_> =
        (0..plants).map(|at| format!("(${}, ${})", 2 * at + 1, 2 * at + 2)).collect();
    format!(
        "INSERT INTO plants (id, plant) VALUES {} \
         ON CONFLICT (id) DO UPDATE SET plant = plants.plant WHERE false RETURNING id",
        values.join(", ")
    )
}
