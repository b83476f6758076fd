use super::*;

fn contents(pages: &[&[(i64, &str)]]) -> Contents {
    let mut contents = Contents::default();
    for page in pages {
        let rows = page.iter().map(|(id, json)| Row { id: *id, json: (*json).into() });
        contents.add(&rows.collect::<Vec<_>>()).expect("ascending ids");
    }
    contents
}

#[test]
fn digest_depends_on_every_id_and_text_but_not_on_page_boundaries() {
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
