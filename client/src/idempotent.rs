//! The operations that may be sent again. The list is generated from the published document.

/// The operations that are idempotent although their method is not (RFC 9110, section 9.2.2), so
/// that the same request may be sent again if there was no response.
pub(crate) const IDEMPOTENT: &[&str] = &[
    // idempotent: generated from the contract
    "create_plant",
    // end of idempotent
];
