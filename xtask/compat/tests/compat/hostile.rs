//! Documents that nobody should trust, and those that cannot be compared.

use std::fs;

use openapi_compat::Class;
use serde_json::{Value, json};

use crate::mutations::{document, judged};
use crate::program::{compared, folder, run};

/// A document whose schema S0 refers to S1, and so on, with this many references each.
fn chained(prefix: &str, schemas: usize, references: usize, last: &Value) -> String {
    let mut document = document();
    let all = document["components"]["schemas"].as_object_mut().expect("schemas");
    for number in 0..schemas {
        let next = json!({ "$ref": format!("#/components/schemas/{prefix}{}", number + 1) });
        let member = format!("a{number}");
        let schema = match references {
            1 => next,
            _ => json!({ "properties": { member: next, "b": next } }),
        };
        all.insert(format!("{prefix}{number}"), schema);
    }
    all.insert(format!("{prefix}{schemas}"), last.clone());
    let first = format!("#/components/schemas/{prefix}0");
    all["Book"]["properties"]["chained"] = json!({ "$ref": first });
    document.to_string()
}

/// Followed again and again, 40 schemas would be 2^40 steps. Followed to its end, a chain of 40,000
/// needs more than a stack, and a loop has no end.
#[test]
fn references_that_are_doubled_chained_or_looped_are_followed_once_each() {
    let text = json!({ "type": "string" });
    for (schemas, references) in [(40, 2), (90, 1), (40_000, 1)] {
        let one = chained("S", schemas, references, &text);
        let other = chained("T", schemas, references, &text);
        let first = json!({ "$ref": "#/components/schemas/S0" });
        let looped = chained("S", schemas, references, &first);
        let inline = document().to_string();
        for (old, new, status) in [
            (&one, &one, 0),
            (&looped, &looped, 0),
            (&one, &other, 1),
            (&inline, &looped, 0),
            (&looped, &inline, 1),
        ] {
            let (said, found) = compared(old, new, &[]);
            assert_eq!(found, status, "{}", said.lines().last().unwrap_or_default());
        }
    }
}

#[test]
fn reference_that_leads_in_a_circle_is_compared_with_a_schema_in_place_as_unknown() {
    let place = json!({ "type": "object", "properties": { "a": {} } });
    let with = |schema: Value| {
        let mut new = document();
        new["components"]["schemas"]["A"] = json!({ "$ref": "#/components/schemas/B" });
        new["components"]["schemas"]["B"] = json!({ "$ref": "#/components/schemas/A" });
        new["components"]["schemas"]["Book"]["properties"]["c"] = schema;
        new
    };
    let report = judged(&with(place), &with(json!({ "$ref": "#/components/schemas/A" })));
    assert!(report.to_string().starts_with("breaks wire "), "{report}");
    assert!(report.to_string().contains("(not-compared)"), "{report}");
}

/// They are one path (Paths Object), so a change of one of them could hide behind the other.
#[test]
fn paths_that_differ_in_the_name_of_a_parameter_are_refused_and_named() {
    let mut new = document();
    let item = new["paths"]["/books/{id}/watch"].clone();
    new["paths"]["/books/{name}/watch"] = item;
    let (said, status) = compared(&document().to_string(), &new.to_string(), &[]);
    let named = "the paths /books/{id}/watch and /books/{name}/watch are one path with two names";
    assert!(said.contains(named) && said.lines().count() == 1 && status == 2, "{said}");
}

/// Each of 300 types is made of the next one: merged whole, they would have 45,000 members.
#[test]
fn types_made_of_each_other_in_a_long_chain_or_a_circle_are_merged_in_part() {
    let with = |types: usize, last: Value| {
        let mut document = document();
        for at in 0..types {
            let next = json!({ "$ref": format!("#/components/schemas/T{}", (at + 1) % types) });
            let own = json!({ "type": "object", "properties": { format!("m{at}"): last } });
            document["components"]["schemas"][format!("T{at}")] = json!({ "allOf": [next, own] });
        }
        document["components"]["schemas"]["Book"]["properties"]["t"] =
            json!({ "$ref": "#/components/schemas/T0" });
        document
    };
    for types in [1, 2, 300] {
        let [text, number] = ["string", "number"].map(|kind| with(types, json!({ "type": kind })));
        assert!(judged(&text, &text).changes.is_empty());
        let report = judged(&text, &number);
        assert_eq!(report.class(), Some(Class::Wire), "{report}");
    }
}

#[test]
fn document_that_is_too_deep_too_large_or_not_openapi_3_0_is_refused_in_one_line() {
    let deep = format!("{{\"a\": {}", "[".repeat(10_000));
    for (text, reason) in [
        (&deep[..], "recursion limit exceeded"),
        ("{1", "the document of old: it is not JSON: key must be a string at line 1 column 2"),
        ("a: [", "the document of old: it is not YAML: "),
        ("# Books\nopenapi: 3.1.0\n", "the document of old: OpenAPI 3.1.0 is not supported: "),
        // Which of the two is meant, nobody can tell (RFC 8259, section 4).
        ("{\"a\": {\"b\": 1, \"b\": 1}}", "`b` is there twice in one object at line 1 column 18"),
        ("a:\n  200: 1\n  '200': 2\n", "`200` is there twice in one object at line 2, column 3"),
        // A byte order mark is no part of it.
        ("\u{feff}{}", "`openapi` is missing"),
        (
            "{\"openapi\": \"3.1.0\"}",
            "the document of old: OpenAPI 3.1.0 is not supported: OpenAPI 3.0.x is expected; compare",
        ),
        (
            "{\"swagger\": \"2.0\"}",
            "the document of old: Swagger \"2.0\" is not supported: OpenAPI ",
        ),
        ("", "openapi-compat: old is empty"),
        ("{}", "`openapi` is missing"),
        ("{\"openapi\": 3.0}", "`openapi` 3.0 is no string"),
        (
            "{\"openapi\": \"3.0.0\"}",
            "the document of old: `paths` is no object: OpenAPI 3.0.x is expected",
        ),
        (&" ".repeat((64 << 20) + 1), "has more than 67108864 bytes"),
    ] {
        let (said, status) = compared(text, &document().to_string(), &[]);
        assert!(said.contains(reason) && said.lines().count() == 1 && status == 2, "{said}");
    }
    let folder = folder(&[]);
    for (bytes, reason) in [
        (&b"\xff\xfe{\0}\0"[..], "old is UTF-16: save it as UTF-8, without a byte order mark"),
        (b"{\"a\": \"\xe4\"}", "old is no text in UTF-8: invalid utf-8 sequence"),
    ] {
        fs::write(folder.path().join("old"), bytes).expect("the folder takes files");
        let (said, status) = run(folder.path(), &["old", "old"]);
        assert!(said.contains(reason) && said.lines().count() == 1 && status == 2, "{said}");
    }
    let (said, status) = run(folder.path(), &["-", "-", "--format", "github"]);
    assert!(said.contains("standard input is empty\n") && status == 2, "{said}");
    assert!(said.contains("::error::standard input is empty"), "{said}");
}

/// What is behind such a reference is not compared.
#[test]
fn reference_out_of_the_document_is_refused_and_one_to_nowhere_allows_every_value() {
    let with = |place: &str, reference: &str| {
        let mut new = document();
        *new.pointer_mut(place).expect("a place") = json!({ "$ref": reference });
        new.to_string()
    };
    let old = document().to_string();
    let schema = "/components/schemas/Book/properties/tag";
    let response = "/paths/~1books/post/responses/400";
    let file = "b.json#/a";
    for (place, reference, reason) in [
        (schema, file, "the `$ref` `b.json#/a` leads out of the document: bundle the files first"),
        (
            response,
            "#/components/responses/Gone",
            "the `$ref` `#/components/responses/Gone` leads ",
        ),
        (response, "#/paths/~1books/post/responses/400", "leads in a circle"),
    ] {
        let (said, status) = compared(&with(place, reference), &old, &[]);
        assert!(said.contains(reason) && said.lines().count() == 1 && status == 2, "{said}");
    }
    let (said, status) = compared(&old, &with(schema, "#/components/schemas/Gone"), &[]);
    assert!(said.contains("type-widened") && status == 1, "{said}");
    // A part of another place, percent-encoded, is followed. It has no name.
    let part = "#/components/schemas/%42ook/properties/strict/properties/a";
    let (said, status) = compared(&with(schema, part), &old, &[]);
    assert!(said.contains("nothing changed") && status == 0, "{said}");
}

/// The pass that gives a document one spelling adds members of these names.
#[test]
fn names_of_the_check_itself_in_a_document_are_unknown_and_stop_nothing() {
    for name in ["$at", "$children", "$name", "$parts", "$values"] {
        let mut new = document();
        let book = &mut new["components"]["schemas"]["Book"];
        book[name] = json!("x");
        book["discriminator"] = json!({ "propertyName": "name", name: "x" });
        let report = judged(&document(), &new);
        assert!(report.to_string().contains("  Book  added: x  (unknown)"), "{report}");
        // As a member it is one like any other.
        let mut new = document();
        new["components"]["schemas"]["Book"]["properties"][name] = json!({ "type": "string" });
        let report = judged(&document(), &new).to_string();
        assert!(report.contains(&format!("  Book.{name}  added: string  (added)")), "{report}");
    }
}

/// Some writers put `null` or a list where OpenAPI has no place for it.
#[test]
fn keyword_of_the_wrong_type_is_unknown_and_does_not_stop_the_comparison() {
    let with = |keyword: Value| {
        let mut document = document();
        document["components"]["schemas"]["Book"]["properties"]["tag"]["items"] = keyword;
        document
    };
    let [one, other] = [json!([{}]), json!([{ "type": "string" }])].map(with);
    assert!(judged(&one, &one).changes.is_empty());
    for (old, new) in [(&one, &other), (&document(), &one), (&one, &document())] {
        let report = judged(old, new).to_string();
        assert!(report.contains("  Book.tag  ") && report.contains("(unknown)"), "{report}");
    }
    let mut new = one.clone();
    new["components"]["schemas"]["Book"]["properties"] = json!({ "items": {}, "type": {} });
    assert!(judged(&one, &new).to_string().contains("  Book.name  removed"));
}

/// All of them say the same, so any two belong together.
#[test]
fn hundred_equal_types_with_other_names_break_no_wire() {
    let with = |suffix: &str| {
        let mut document = document();
        let name = |number: usize| format!("Equal{number}{suffix}");
        let part = |number| json!({ "$ref": format!("#/components/schemas/{}", name(number)) });
        let parts: Vec<Value> = (0..100).map(part).collect();
        let all = document["components"]["schemas"].as_object_mut().expect("schemas");
        all.extend((0..100).map(|number| (name(number), json!({ "type": "object" }))));
        all["Shape"] = json!({ "oneOf": parts });
        document
    };
    let report = judged(&with(""), &with("_2"));
    assert_eq!(report.class(), Some(Class::Source), "{report}");
}

/// The lists of real documents have hundreds of parts.
#[test]
fn two_thousand_parts_are_matched_with_two_thousand_others() {
    let with = |range: std::ops::Range<usize>, format: &str| {
        let part = |at: usize| {
            let member = format!("member{at}");
            json!({ "type": "object", "properties": {
                member: { "type": "number", "format": format }, "all": { "type": "string" } } })
        };
        let mut parts: Vec<Value> = range.map(part).collect();
        parts.reverse();
        let mut document = document();
        document["components"]["schemas"]["Shape"] = json!({ "oneOf": parts });
        document
    };
    let old = with(0..2000, "float");
    let mut new = with(0..2000, "double");
    let parts = new["components"]["schemas"]["Shape"]["oneOf"].as_array_mut().expect("parts");
    parts.reverse();
    let report = judged(&old, &new);
    assert_eq!(report.changes.len(), 2000);
    assert!(report.changes.iter().all(|one| one.change == "number (float) → number (double)"));
}
