use super::*;

#[test]
fn store_url_names_an_engine_and_a_file() {
    assert_eq!("sqlite:a/b.db".parse(), Ok(StoreUrl::Sqlite("a/b.db".into())));
    assert_eq!("sqlite:/a%b#c".parse(), Ok(StoreUrl::Sqlite("/a%b#c".into())));
    assert_eq!("sqlite:///a".parse(), Ok(StoreUrl::Sqlite("///a".into())));
    let unclear = ["sqlite://a.db", "sqlite://a/b.db", "sqlite://", "sqlite:a?mode=ro"];
    for text in unclear.into_iter().chain(["sqlite:", "sqlite::memory:"]) {
        assert_eq!(text.parse::<StoreUrl>(), Err(InvalidStoreUrl::NotAFile), "{text}");
    }
    for unknown in ["", "plants.db", "mysql:plants", "SQLITE:x"] {
        assert_eq!(unknown.parse::<StoreUrl>(), Err(InvalidStoreUrl::UnknownEngine));
    }
}

#[test]
fn store_url_is_shown_as_written() {
    let url: StoreUrl = "sqlite:plant-store.db".parse().expect("a store URL");
    assert_eq!(url.to_string(), "sqlite:plant-store.db");
}
