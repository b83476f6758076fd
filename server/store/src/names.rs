//! The names of the service that a store contains or shows. Nothing in this crate names a service or
//! its resource.

/// The names of a service. A change of any of them makes existing stores foreign.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    /// The name of the program, such as `book-shelf`: the `application_name` of a session with a
    /// database. The name of the table with the layout version follows from it.
    pub program: &'static str,
    /// The table of the rows, such as `books`.
    pub table: &'static str,
    /// The first three bytes of `application_id` in an SQLite file.
    pub application_id: [u8; 3],
}

impl Names {
    /// Returns the table of a database that contains the layout version.
    pub(crate) fn layout_table(&self) -> String {
        format!("{}_schema", self.program.replace('-', "_"))
    }
}
