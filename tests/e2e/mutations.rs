//! Small ways to break or to bend the contract, and what each gate says about them.
//!
//! The gates, each with its question: `generate --check`, is the checked-in document the one that
//! the code makes? the facts, is it what the specification says? `compat`, what does the change
//! mean to a consumer? The first one catches every edit below, so it has no column.

use plant_store_tests::facts;
use serde_json::Value;
use xtask::compat::{DOCUMENT, compare};
use xtask::generate::Generated;

use crate::contract::{document, text};

/// In each row: whether the facts have it (`caught`) or the specification has no word about it
/// (`holds`); the class that `compat` gives it (`nothing`: no change by meaning); the edits.
const TABLE: &str = include_str!("mutations.txt");

#[test]
fn every_mutation_is_caught_by_the_gate_named_for_it() {
    let published = document();
    let generated = Generated { path: DOCUMENT, text: pretty(&published) };
    assert_eq!(generated.drift(&pretty(&published)), None);

    let mut surprises = Vec::new();
    for row in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let [expected_facts, expected_compat, edits] = columns(row);
        let mut mutated = published.clone();
        edits.split(" & ").for_each(|edit| apply(edit, &mut mutated));

        let report = compare(&published, &mutated).expect("documents with versions");
        let compat = report.class().map_or("nothing".into(), |class| class.to_string());
        let facts = if facts(&mutated).is_empty() { "holds" } else { "caught" };
        // The version is as it was, so that any change at all is one without its version.
        let verdict = if report.changes.is_empty() { "passes" } else { "fails" };
        let drift = if generated.drift(&pretty(&mutated)).is_some() { "caught" } else { "passes" };

        let says = [facts, &compat, report.verdict().map_or("fails", |()| "passes"), drift];
        let expected = [expected_facts, expected_compat, verdict, "caught"];
        if says != expected {
            surprises.push(format!("{edits}: {says:?} instead of {expected:?}\n{report}"));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n\n"));
}

/// What a document says does not hang on how it is written, and only the first gate minds that.
#[test]
fn the_order_of_members_is_no_change() {
    let (old, new) = (r#""type": "integer","#, r#""format": "int32""#);
    let published = text();
    let reordered = published.replacen(
        &format!("{old}\n            {new}"),
        &format!("{new},\n            {}", old.trim_end_matches(',')),
        1,
    );
    let generated = Generated { path: DOCUMENT, text: published };
    let diff = generated.drift(&reordered).expect("the text is another one");
    assert!(
        diff.starts_with(&format!("--- {DOCUMENT} (checked in)\n+++ {DOCUMENT} (generated)\n"))
    );
    assert!(diff.contains("\n-            \"format\": \"int32\",\n"), "{diff}");

    let reordered = serde_json::from_str(&reordered).expect("still JSON");
    assert_eq!(compare(&document(), &reordered).expect("versions").changes.len(), 0);
    assert_eq!(facts(&reordered), [""; 0]);
}

fn pretty(document: &Value) -> String {
    serde_json::to_string_pretty(document).expect("a document is JSON")
}

fn columns(row: &str) -> [&str; 3] {
    let columns: Vec<&str> = row.splitn(3, '|').map(str::trim).collect();
    columns.try_into().expect("a row has three columns")
}

/// `remove PLACE`, `rename PLACE NAME` or `set PLACE JSON`, which puts an item into a list before
/// that position.
pub fn apply(edit: &str, document: &mut Value) {
    let (verb, rest) = edit.split_once(' ').expect("an edit has a place");
    let (place, operand) = rest.split_once(' ').unwrap_or((rest, ""));
    let place = pointer(place);
    let (parent, member) = place.rsplit_once('/').expect("a place is a pointer");
    let member = member.replace("~1", "/");
    match document.pointer_mut(parent).expect(edit) {
        Value::Object(members) => match verb {
            "remove" => drop(members.remove(&member).expect(edit)),
            "rename" => {
                let value = members.remove(&member).expect(edit);
                members.insert(operand.to_owned(), value);
            }
            "set" => drop(members.insert(member, serde_json::from_str(operand).expect(edit))),
            _ => panic!("{edit}"),
        },
        Value::Array(items) => {
            let position: usize = member.parse().expect(edit);
            match verb {
                "remove" => drop(items.remove(position)),
                "set" => items.insert(position, serde_json::from_str(operand).expect(edit)),
                _ => panic!("{edit}"),
            }
        }
        _ => panic!("{edit}"),
    }
}

/// A place is a JSON pointer; `post` stands for the operation, a type's name for its schema.
fn pointer(place: &str) -> String {
    match place.split('/').next() {
        Some("") => place.to_owned(),
        Some("post") => format!("/paths/~1plants/{place}"),
        _ => format!("/components/schemas/{place}"),
    }
}
