//! The drift check: what a change of the document means to its consumers, and whether
//! `info.version` says so.
//!
//! ```text
//! older       which document the present one is compared with
//!   → difference  everything in which the two differ, one by one
//!     → class       what each difference alone means: breaking, additive or words only
//! ```
//!
//! A difference that nobody can judge is breaking: nothing here may pass because it was not seen.

mod class;
mod difference;
mod older;
mod place;

use std::fmt;
use std::fs;

use anyhow::{Context, Result, ensure};
use semver::Version;
use serde_json::Value;

pub use class::Class;
pub use older::{Older, older};
pub use place::Place;

use crate::run::root;

/// The published document, relative to the root of the repository.
pub const DOCUMENT: &str = "openapi/plant-store.json";

/// Compares the document with an older one, prints every change, and fails where they need a
/// larger version than the document has.
pub fn run(against: Option<&str>) -> Result<()> {
    let Some(older) = older(root(), against)? else {
        println!("the history holds no older document: there is nothing to compare with");
        return Ok(());
    };
    let text = fs::read_to_string(root().join(DOCUMENT))
        .with_context(|| format!("cannot read {DOCUMENT}"))?;
    let old = parse(&older.text).with_context(|| format!("in the document of {}", older.name))?;
    let new = parse(&text).with_context(|| format!("in {DOCUMENT}"))?;
    let report = compare(&old, &new)?;
    println!("{DOCUMENT} {}, since {} of {}:\n{report}", report.new, report.old, older.name);
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
pub fn compare(old: &Value, new: &Value) -> Result<Report> {
    let changes = difference::differences(old, new)
        .into_iter()
        // The version is what the changes are held against.
        .filter(|difference| difference.place.kinds() != ["info", "version"])
        .map(|difference| {
            let (class, what) = class::classify(old, &difference);
            Change { place: difference.place, what, class }
        })
        .collect();
    Ok(Report { changes, old: version(old)?, new: version(new)? })
}

impl Report {
    /// The heaviest class among the changes, where there is one.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.changes.iter().map(|change| change.class).max()
    }

    /// The least version that the newer document may have.
    #[must_use]
    pub fn least_version(&self) -> Version {
        let Version { major, minor, patch, .. } = self.old;
        match self.class() {
            Some(Class::Breaking) => Version::new(major + 1, 0, 0),
            Some(Class::Additive) => Version::new(major, minor + 1, 0),
            Some(Class::Words) => Version::new(major, minor, patch + 1),
            None => self.old.clone(),
        }
    }

    /// Fails where the newer document has a smaller version than its changes need.
    pub fn verdict(&self) -> Result<()> {
        let least = self.least_version();
        ensure!(
            self.new >= least,
            "info.version is {}, was {}, and must be {least} or larger: \
             set VERSION in server/src/http/document.rs, then `cargo xtask generate`",
            self.new,
            self.old,
        );
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.changes.is_empty() {
            return write!(f, "nothing changed");
        }
        let lines: Vec<String> = self
            .changes
            .iter()
            .map(|Change { place, what, class }| format!("{class:10}  {place}  {what}"))
            .collect();
        write!(f, "{}", lines.join("\n"))
    }
}

fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).context("not JSON")
}

fn version(document: &Value) -> Result<Version> {
    let text = document["info"]["version"].as_str().context("a document without info.version")?;
    text.parse().with_context(|| format!("info.version is {text}, which is no semantic version"))
}
