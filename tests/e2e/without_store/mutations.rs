//! Small changes of the contract, harmless and harmful, and what the compatibility check says about
//! each.

use std::collections::BTreeSet;

use plant_store_chores::compat::mutations::{Mutation, mutations};
use plant_store_chores::compat::{Class, Document, compare, version};

use crate::without_store::contract::{document, text};

#[test]
fn every_mutation_has_its_class() {
    let surprises: Vec<String> = mutations().filter_map(|row| surprise(&row)).collect();
    assert!(surprises.is_empty(), "{}", surprises.join("\n\n"));
}

/// A rule that no row reaches could be any rule.
#[test]
fn every_rule_decides_about_a_mutation() {
    let published = document();
    let reports = mutations().filter_map(|row| row.report(&published).ok());
    let tried: BTreeSet<&str> =
        reports.flat_map(|report| report.changes).map(|change| change.rule).collect();
    let rows = include_str!("../../../xtask/compat/src/rules.md").lines();
    let rules = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    let untried: Vec<&str> = rules.filter(|rule| !tried.contains(rule)).collect();
    assert_eq!(untried, [""; 0]);
}

/// What the check says about a change.
#[derive(Debug, PartialEq)]
struct Said {
    class: String,
    /// Whether the version may stay as it is.
    needs_no_version: bool,
}

/// What the check says about a row, if that is not what the row says.
fn surprise(row: &Mutation) -> Option<String> {
    let report = row.report(&document());
    let class = match &report {
        Ok(report) => report.class().map_or("nothing".to_owned(), |class| class.to_string()),
        Err(_) => "refused".to_owned(),
    };
    let said = Said {
        class: class.replace("breaks ", ""),
        needs_no_version: report.as_ref().is_ok_and(|report| version::verdict(report).is_ok()),
    };
    let expected = Said {
        class: row.class.to_owned(),
        // The version is as it was: enough for words, and too small for more.
        needs_no_version: ["nothing", &Class::Words.to_string()].contains(&row.class),
    };
    if said == expected {
        return None;
    }
    let told = report.map_or_else(|error| format!("{error:#}"), |report| report.to_string());
    Some(format!("{}: {said:?} instead of {expected:?}\n{told}", row.edits))
}

/// The order is not part of what a document says.
#[test]
fn the_order_of_members_is_no_change() {
    let integer = r#""type": "integer""#;
    let int32 = r#""format": "int32""#;
    let reordered = text().replacen(
        &format!("{integer},\n            {int32}"),
        &format!("{int32},\n            {integer}"),
        1,
    );
    assert_ne!(reordered, text());

    let old = Document::parse("this test", &text()).expect("a document");
    let new = Document::parse("this test", &reordered).expect("a document");
    assert_eq!(compare(old, new).changes.len(), 0);
}
