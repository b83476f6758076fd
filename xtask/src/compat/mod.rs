//! The drift check: what a change of the document means to its consumers, and whether
//! `info.version` says so.
//!
//! ```text
//! older         which document the present one is compared with
//!   → document    whether the two can be compared
//!   → difference  everything in which they differ, one by one
//!     → usage       what requests and responses reach
//!     → class       what each difference means: breaking, additive or words only
//!   → version     which version that needs
//! ```
//!
//! A difference that nobody can judge is breaking: nothing here may pass because it was not seen.

mod class;
mod difference;
mod document;
mod git;
pub mod mutations;
mod older;
mod place;
mod usage;
mod version;

use std::fmt;
use std::fs;

use anyhow::{Context, Result};
use semver::Version;

pub use class::Class;
pub use document::Document;
pub use older::older;
pub use place::Place;

use crate::run::root;
use usage::Usage;

/// The published document, relative to the root of the repository.
pub const DOCUMENT: &str = "openapi/plant-store.json";

/// Compares the document with an older one, prints every change, and fails where they need a
/// larger version than the document has.
pub fn run(against: Option<&str>) -> Result<()> {
    let text = fs::read_to_string(root().join(DOCUMENT))
        .with_context(|| format!("cannot read {DOCUMENT}"))?;
    let new = Document::parse("this checkout", &text)?;
    let Some(old) = older(root(), against, &new)? else {
        println!("{DOCUMENT} {}: no commit has an older document", new.version);
        return Ok(());
    };
    let report = compare(&old, &new);
    println!("{DOCUMENT} {}, since {} of {}:\n{report}", new.version, old.version, old.name);
    report.verdict()
}

/// What changed, and between which versions.
pub struct Report {
    /// Every change, in the order of the places.
    pub changes: Vec<Change>,
    /// `info.version` of the older document.
    pub old: Version,
    /// `info.version` of the newer one.
    pub new: Version,
}

/// One change.
pub struct Change {
    /// Where it is.
    pub place: Place,
    /// What happened there.
    pub what: String,
    /// What it means to a consumer.
    pub class: Class,
}

/// Compares two documents by meaning.
#[must_use]
pub fn compare(old: &Document, new: &Document) -> Report {
    let usage = Usage::of(&old.json);
    let changes = difference::differences(&old.json, &new.json)
        .into_iter()
        // The version is what the changes are held against.
        .filter(|difference| difference.place.kinds() != ["info", "version"])
        .map(|difference| Change {
            class: class::classify(&old.json, &usage, &difference),
            what: difference.kind().to_string(),
            place: difference.place,
        })
        .collect();
    Report { changes, old: old.version.clone(), new: new.version.clone() }
}

impl Report {
    /// The heaviest class among the changes, where there is one.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.changes.iter().map(|change| change.class).max()
    }

    /// The least version that the newer document may have.
    pub fn least_version(&self) -> Result<Version> {
        version::least(&self.old, self.class())
    }

    /// Fails where the newer document has a smaller version than its changes need.
    pub fn verdict(&self) -> Result<()> {
        version::verdict(&self.old, &self.new, self.class())
    }
}

/// The changes, and in the last line what they need.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Change { place, what, class } in &self.changes {
            writeln!(f, "{class:10}  {place}  {what}")?;
        }
        let Some(class) = self.class() else { return write!(f, "nothing changed") };
        match self.least_version() {
            Ok(_) if !self.old.pre.is_empty() => {
                write!(f, "{class}; a pre-release promised nothing")
            }
            Ok(least) if class > Class::Words => write!(f, "{class}; needs {least} or larger"),
            Ok(_) => write!(f, "{class}; needs no new version"),
            Err(error) => write!(f, "{class}; {error}"),
        }
    }
}
