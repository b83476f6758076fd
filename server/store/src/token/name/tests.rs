use super::*;

#[test]
fn token_name_is_1_to_64_plain_characters() {
    for good in ["a", "CI-2026.1_x", &"n".repeat(64)] {
        assert!(good.parse::<TokenName>().is_ok(), "{good}");
    }
    for bad in ["", "a b", "a\nb", "é", &"n".repeat(65)] {
        assert_eq!(bad.parse::<TokenName>(), Err(INVALID), "{bad:?}");
    }
}
