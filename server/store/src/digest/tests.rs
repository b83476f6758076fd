use super::*;

fn digest(pages: &[&[(i64, &str)]]) -> String {
    let mut digest = ContentDigest::default();
    for page in pages {
        let rows = page.iter().map(|(id, plant)| Row { id: *id, json: (*plant).into() });
        digest.add(&rows.collect::<Vec<_>>());
    }
    digest.to_string()
}

#[test]
fn digest_depends_on_every_id_and_text_but_not_on_page_boundaries() {
    let plants = digest(&[&[(1, "Ficus"), (2, "Fern")]]);
    assert_eq!(digest(&[&[(1, "Ficus")], &[], &[(2, "Fern")]]), plants);
    for other in [
        [(1, "FicuX"), (2, "Fern")],
        [(1, "Ficus"), (3, "Fern")],
        [(1, "Fern"), (2, "Ficus")],
        [(1, "Ficus\0"), (2, "Fern")],
    ] {
        assert_ne!(digest(&[&other]), plants, "{other:?}");
    }
    assert_ne!(digest(&[&[(1, "Ficus")]]), plants);
}

/// NIST publishes this value for the empty message.
#[test]
fn digest_of_an_empty_store_is_sha_256_of_the_empty_message() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(digest(&[]), empty);
}
