//! A generated file, and how the checked-in one differs from it.

use similar::TextDiff;

/// A file that is generated and checked in.
pub struct Generated {
    /// Relative to the root of the repository.
    pub path: &'static str,
    /// What it has to hold.
    pub text: String,
}

impl Generated {
    /// A unified diff, if the checked-in text differs.
    #[must_use]
    pub fn drift(&self, checked_in: &str) -> Option<String> {
        let Self { path, text } = self;
        (checked_in != text).then(|| {
            TextDiff::from_lines(checked_in, text.as_str())
                .unified_diff()
                .header(&format!("{path} (checked in)"), &format!("{path} (generated)"))
                .to_string()
        })
    }
}
