//! The members of a NewPlant: the columns that `plants import` takes in CSV.

/// A member of a NewPlant.
pub struct Member {
    pub name: &'static str,
    /// Whether it is a string.
    pub is_text: bool,
    pub is_required: bool,
}

/// All members of a NewPlant.
pub const MEMBERS: &[Member] = &[
    // members: generated from the contract
    Member { name: "id", is_text: false, is_required: true },
    Member { name: "name", is_text: true, is_required: true },
    Member { name: "tag", is_text: true, is_required: false },
    // end of members
];
