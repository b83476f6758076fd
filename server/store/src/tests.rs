//! Tests of what needs no engine.

use crate::contents::Contents;
use crate::engine::{Outcome, Row};
use crate::token::{InvalidName, TokenName};
use crate::url::{InvalidUrl, StoreUrl};

fn contents(pages: &[&[(i64, &str)]]) -> Contents {
    let mut contents = Contents::default();
    for page in pages {
        let rows = page.iter().map(|(id, json)| Row { id: *id, json: (*json).into() });
        contents.add(&rows.collect::<Vec<_>>()).expect("ascending ids");
    }
    contents
}

#[test]
fn digest_depends_on_ids_and_texts_but_not_on_pages() {
    let whole = contents(&[&[(1, "Ficus"), (2, "Fern")]]);
    assert_eq!(contents(&[&[(1, "Ficus")], &[], &[(2, "Fern")]]), whole);
    for other in [
        [(1, "FicuX"), (2, "Fern")],
        [(1, "Ficus"), (3, "Fern")],
        [(1, "Fern"), (2, "Ficus")],
        [(1, "Ficus\0"), (2, "Fern")],
    ] {
        assert_ne!(contents(&[&other]).digest(), whole.digest(), "{other:?}");
    }
    assert_ne!(contents(&[&[(1, "Ficus")]]), whole);
}

#[test]
fn ids_that_do_not_ascend_are_refused() {
    for second in [1, 0, i64::MIN] {
        let rows = [1, second].map(|id| Row { id, json: "".into() });
        assert!(Contents::default().add(&rows).is_err(), "{second}");
    }
}

/// NIST publishes this value for the empty message.
#[test]
fn digest_of_an_empty_store_is_sha_256_of_the_empty_message() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(contents(&[]).digest(), empty);
}

#[test]
fn text_of_the_same_value_is_a_repeat() {
    let kept = r#"{"name":"Ficus","tag":"a"}"#;
    for same in [kept, r#"{"tag":"a","name":"Ficus"}"#, r#"{"name":"\u0046icus","tag":"a"}"#] {
        assert_eq!(Outcome::of_taken_id(kept, same), Outcome::Repeated, "{same}");
    }
    for other in [r#"{"name":"Ficus"}"#, r#"{"name":"Ficus","tag":"b"}"#, "{", ""] {
        assert_eq!(Outcome::of_taken_id(kept, other), Outcome::Conflict, "{other}");
    }
    assert_eq!(Outcome::of_taken_id("no JSON", kept), Outcome::Conflict);
}

#[test]
fn store_url_names_an_engine_and_a_file() {
    assert_eq!("sqlite:a/b.db".parse(), Ok(StoreUrl::Sqlite("a/b.db".into())));
    assert_eq!("sqlite:/a%b#c".parse(), Ok(StoreUrl::Sqlite("/a%b#c".into())));
    assert_eq!("sqlite:///a".parse(), Ok(StoreUrl::Sqlite("///a".into())));
    let unclear = ["sqlite://a.db", "sqlite://a/b.db", "sqlite://", "sqlite:a?mode=ro"];
    for text in unclear.into_iter().chain(["sqlite:", "sqlite::memory:"]) {
        assert_eq!(text.parse::<StoreUrl>(), Err(InvalidUrl::NotAFile), "{text}");
    }
    for unknown in ["", "books.db", "mysql:books", "SQLITE:x"] {
        assert_eq!(unknown.parse::<StoreUrl>(), Err(InvalidUrl::UnknownEngine));
    }
}

#[test]
fn token_name_is_1_to_64_plain_characters() {
    for good in ["a", "CI-2026.1_x", &"n".repeat(64)] {
        assert!(good.parse::<TokenName>().is_ok(), "{good}");
    }
    for bad in ["", "a b", "a\nb", "é", &"n".repeat(65)] {
        assert_eq!(bad.parse::<TokenName>(), Err(InvalidName), "{bad:?}");
    }
}
