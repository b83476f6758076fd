//! Small changes of the contract, harmless and harmful, and what each check says about them:
//!
//! - the drift check: is the checked-in document the one that the code makes? It catches every
//!   edit, so it has no column in the table;
//! - the facts: is the document what the specification says?
//! - the compatibility check: what does the change mean to a consumer?

use std::collections::BTreeSet;

use plant_store_chores::compat::mutations::{Mutation, mutations};
use plant_store_chores::compat::{Class, Document, compare, version};
use plant_store_chores::generate::{Generated, published};
use plant_store_tests::deviations;
use serde_json::Value;
use xtask::checkout::DOCUMENT;

use crate::without_store::contract::{document, text};

#[test]
fn every_mutation_is_caught_by_the_check_named_for_it() {
    // If one of these fails, every row fails, and none says why.
    assert!(
        published().drift(&text()).is_none(),
        "no row was tried: {DOCUMENT} is not what the code makes: run `cargo xtask generate`"
    );
    assert!(
        deviations(&document()).is_empty(),
        "no row was tried: first see document_states_every_fact_of_the_specification"
    );

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

/// What the checks say about a change.
#[derive(Debug, PartialEq)]
struct Said {
    facts: String,
    class: String,
    /// Whether the version may stay as it is.
    needs_no_version: bool,
    drifts: bool,
}

/// What the checks say about a row, if that is not what the row says.
fn surprise(row: &Mutation) -> Option<String> {
    let [_, new] = row.documents(&document());
    let report = row.report(&document());
    let class = match &report {
        Ok(report) => report.class().map_or("nothing".to_owned(), |class| class.to_string()),
        Err(_) => "refused".to_owned(),
    };
    let generated = Generated { path: DOCUMENT, text: pretty(&document()) };
    let said = Said {
        facts: if deviations(&new).is_empty() { "holds" } else { "caught" }.to_owned(),
        class: class.replace("breaks ", ""),
        needs_no_version: report.as_ref().is_ok_and(|report| version::verdict(report).is_ok()),
        drifts: generated.drift(&pretty(&new)).is_some(),
    };
    let expected = Said {
        facts: row.facts.to_owned(),
        class: row.class.to_owned(),
        // The version is as it was: enough for words, and too small for more.
        needs_no_version: ["nothing", &Class::Words.to_string()].contains(&row.class),
        drifts: new != document(),
    };
    if said == expected {
        return None;
    }
    let told = report.map_or_else(|error| format!("{error:#}"), |report| report.to_string());
    Some(format!("{}: {said:?} instead of {expected:?}\n{told}", row.edits))
}

/// The order is not part of what a document says. Only the drift check notices it.
#[test]
fn the_order_of_members_is_no_change() {
    let integer = r#""type": "integer""#;
    let int32 = r#""format": "int32""#;
    let reordered = text().replacen(
        &format!("{integer},\n            {int32}"),
        &format!("{int32},\n            {integer}"),
        1,
    );
    let generated = Generated { path: DOCUMENT, text: text() };
    let diff = generated.drift(&reordered).expect("the text is another one");
    assert!(
        diff.starts_with(&format!("--- {DOCUMENT} (checked in)\n+++ {DOCUMENT} (generated)\n"))
    );
    assert!(diff.contains("\n-            \"format\": \"int32\",\n"), "{diff}");

    let old = Document::parse("this test", &text()).expect("a document");
    let new = Document::parse("this test", &reordered).expect("a document");
    assert_eq!(deviations(&new.json), [""; 0]);
    assert_eq!(compare(old, new).changes.len(), 0);
}

fn pretty(document: &Value) -> String {
    serde_json::to_string_pretty(document).expect("a document is JSON")
}
