//! The header of a CSV file: which member of a plant each column has.

use csv::ByteRecord;

use crate::cli::members::{Body, Member};
use crate::types::NewPlant;

/// How much of a column's name is repeated in a message, in characters.
const SHOWN: usize = 64;

/// The member that a column has, or `None` if it is left out.
pub type Column = Option<&'static Member>;

/// What is wrong with a header.
#[derive(Debug, thiserror::Error)]
pub enum InvalidHeader {
    #[error("the file has no header; {}", expected())]
    Missing,
    #[error("the header has the unknown column {name:?}; {}", expected())]
    Unknown { name: String },
    #[error("the header has the column {name:?} twice; {}", expected())]
    Twice { name: String },
    #[error("the header has no column {name:?}; {}", expected())]
    Without { name: &'static str },
}

/// The columns that a header names. One that the contract does not have is left out if
/// `ignores_unknown` says so.
pub fn columns(header: &ByteRecord, ignores_unknown: bool) -> Result<Vec<Column>, InvalidHeader> {
    let mut columns: Vec<Column> = Vec::new();
    for name in header {
        match NewPlant::MEMBERS.iter().find(|member| member.name.as_bytes() == name) {
            None if !ignores_unknown => return Err(InvalidHeader::Unknown { name: shown(name) }),
            Some(member) if has(&columns, member) => {
                return Err(InvalidHeader::Twice { name: shown(name) });
            }
            column => columns.push(column),
        }
    }
    let mut required = NewPlant::MEMBERS.iter().filter(|member| member.is_required);
    match required.find(|member| !has(&columns, member)) {
        Some(missing) => Err(InvalidHeader::Without { name: missing.name }),
        None => Ok(columns),
    }
}

fn has(columns: &[Column], member: &Member) -> bool {
    columns.iter().flatten().any(|column| column.name == member.name)
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().take(SHOWN).collect()
}

/// The columns that a header may have.
fn expected() -> String {
    let column = |member: &Member| {
        if member.is_required {
            member.name.to_owned()
        } else {
            format!("{} (optional)", member.name)
        }
    };
    let columns: Vec<_> = NewPlant::MEMBERS.iter().map(column).collect();
    format!("expected is a header with {}, separated by commas", columns.join(", "))
}
