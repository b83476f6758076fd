use super::*;

#[test]
fn issued_token_parses_to_the_same_digest() {
    let token = Token::random("row_");
    assert_eq!(token.reveal().len(), 42);
    assert_eq!(parse("row_", token.reveal()), Some(digest(token.reveal())));
    assert_ne!(Token::random("row_").reveal(), token.reveal());
}

/// A token must stay well-formed in every later release.
#[test]
fn token_of_the_first_release_parses() {
    assert!(parse("row_", "row_0123456789ABCDEFGHIJabcdefghij0038H4se").is_some());
}

#[test]
fn mistyped_token_is_malformed() {
    let token = Token::random("row_");
    let good = token.reveal();
    for position in 0..good.len() {
        let mut bytes = good.as_bytes().to_vec();
        bytes[position] = if bytes[position] == b'x' { b'y' } else { b'x' };
        let bad = String::from_utf8(bytes).expect("ASCII");
        assert!(parse("row_", &bad).is_none(), "character {position} changed");
    }
    for bad in ["", "row_", &good[1..], &good[..41], &format!("{good}0"), &good.to_uppercase()] {
        assert!(parse("row_", bad).is_none(), "{bad:?}");
    }
    let multibyte = format!("row_{}{}", "é".repeat(16), "000000");
    assert!(parse("row_", &multibyte).is_none());
}
