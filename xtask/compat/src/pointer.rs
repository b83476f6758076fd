//! JSON pointers (RFC 6901), and which of them lead to a named type.

/// The place of the named types.
pub const SCHEMAS: &str = "#/components/schemas";

/// The pointer to a member of the value at `place`.
pub fn step(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The steps of a pointer, unescaped (section 4).
pub fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

/// Whether a pointer leads to a named schema, from which generators make a type.
pub fn is_type(pointer: &str) -> bool {
    short(pointer) != pointer && !short(pointer).contains('/')
}

/// The name of a type, or any other pointer as it is.
pub fn short(pointer: &str) -> &str {
    pointer.strip_prefix("#/components/schemas/").unwrap_or(pointer)
}
