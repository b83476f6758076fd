use http::HeaderValue;

use super::*;

fn token_of(values: &[&[u8]]) -> Result<TokenDigest, Refusal> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).expect("a header value"));
    }
    token_digest(&headers)
}

#[test]
fn bearer_scheme_is_case_insensitive_and_spaces_may_follow() {
    let token = Token::random();
    for scheme in ["Bearer ", "bearer ", "BEARER   "] {
        let value = format!("{scheme}{}", token.reveal());
        let found = token_of(&[value.as_bytes()]).expect("a token");
        assert_eq!(found, token.digest());
    }
}

#[test]
fn other_scheme_is_absent_and_bad_token_is_malformed() {
    let token = Token::random();
    let good = format!("Bearer {}", token.reveal());
    let absent: [&[&[u8]]; 5] =
        [&[], &[b""], &[b"Basic YTpi"], &[b"Bearerpst_x"], &[token.reveal().as_bytes()]];
    for values in absent {
        assert!(matches!(token_of(values), Err(Refusal::NoToken)), "{values:?}");
    }
    let two = format!("{good} more");
    let malformed: [&[&[u8]]; 4] =
        [&[b"Bearer"], &[b"Bearer "], &[b"Bearer \xff\xfe"], &[good.as_bytes(), good.as_bytes()]];
    for values in malformed {
        assert!(matches!(token_of(values), Err(Refusal::MalformedCredentials)), "{values:?}");
    }
    let cut = &good[..good.len() - 1];
    let mistyped: [&[&[u8]]; 3] = [&[b"Bearer pst_short"], &[cut.as_bytes()], &[two.as_bytes()]];
    for values in mistyped {
        assert!(matches!(token_of(values), Err(Refusal::MalformedToken)), "{values:?}");
    }
    // A tab is not a space: the whole value is the name of an unknown scheme.
    let tab = format!("Bearer\t{}", token.reveal());
    assert!(matches!(token_of(&[tab.as_bytes()]), Err(Refusal::NoToken)));
}
