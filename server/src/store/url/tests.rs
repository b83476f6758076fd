use super::*;

#[test]
fn store_url_names_an_engine_and_a_file() {
    assert_eq!("sqlite:a/b.db".parse(), Ok(StoreUrl::Sqlite("a/b.db".into())));
    assert_eq!("sqlite:/a%b#c".parse(), Ok(StoreUrl::Sqlite("/a%b#c".into())));
    assert_eq!("sqlite:a?mode=ro".parse::<StoreUrl>(), Err(InvalidStoreUrl::Parameters));
    assert_eq!("sqlite:///a".parse(), Ok(StoreUrl::Sqlite("///a".into())));
    for unclear in ["sqlite://a.db", "sqlite://a/b.db", "sqlite://"] {
        assert_eq!(unclear.parse::<StoreUrl>(), Err(InvalidStoreUrl::TwoSlashes));
    }
    for memory in ["sqlite:", "sqlite::memory:"] {
        assert_eq!(memory.parse::<StoreUrl>(), Err(InvalidStoreUrl::NotAFile));
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
