//! The `Authorization` header and the token in it, compared with a model of both.

use plant_store_server::http::credentials::{NoToken, bearer_token};
use plant_store_server::token::Token;
use proptest::array;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use super::{edited, fuzz};

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// CRC-32 as ISO 3309 has it, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
        }
    }
    !crc
}

/// As the README says: `pst_`, 32 base62 characters and a checksum of six more.
fn token_of(random: &[u8]) -> Vec<u8> {
    let digit = |place: u32| BASE62[(crc32(random) / 62_u32.pow(place) % 62) as usize];
    let checksum: Vec<u8> = (0..6).rev().map(digit).collect();
    [b"pst_", random, &checksum].concat()
}

fn is_token(text: &[u8]) -> bool {
    text.len() == 42
        && text[4..36].iter().all(|byte| BASE62.contains(byte))
        && text == token_of(&text[4..36])
}

/// What RFC 9110 and RFC 6750 say of the header: it holds a token, none, or a malformed one.
fn model(values: &[Vec<u8>]) -> Result<&[u8], NoToken> {
    let value = match values {
        [] => return Err(NoToken::Absent),
        [value] => value,
        _ => return Err(NoToken::Malformed),
    };
    if value.iter().any(|byte| !matches!(byte, b'\t' | b' '..=b'~')) {
        return Err(NoToken::Malformed);
    }
    let scheme = value.iter().position(|byte| *byte == b' ').unwrap_or(value.len());
    if !value[..scheme].eq_ignore_ascii_case(b"bearer") {
        return Err(NoToken::Absent);
    }
    let spaces = value[scheme..].iter().take_while(|byte| **byte == b' ').count();
    let token = &value[scheme + spaces..];
    if is_token(token) { Ok(token) } else { Err(NoToken::Malformed) }
}

fn any_token() -> impl Strategy<Value = Vec<u8>> {
    array::uniform32(select(BASE62)).prop_map(|random| token_of(&random))
}

/// RFC 9110, section 5.5: what a field's value may hold.
fn field_byte() -> impl Strategy<Value = u8> + Clone {
    prop_oneof![8 => b' '..=b'~', 1 => 0x80..=0xff_u8, 1 => Just(b'\t')]
}

fn any_field() -> impl Strategy<Value = Vec<u8>> {
    let scheme = select(vec!["Bearer", "bearer", "BEARER", "bEaReR", "Basic", "Bear", ""]);
    let between = prop_oneof![3 => Just(" "), 1 => select(vec!["", "  ", "\t", " \t", "      "])];
    let good = (scheme, between, any_token()).prop_map(|(scheme, between, token)| {
        [scheme.as_bytes(), between.as_bytes(), &token].concat()
    });
    prop_oneof![8 => edited(good, field_byte()), 1 => vec(field_byte(), 0..60)]
}

#[test]
fn authorization_header_is_read_as_rfc_9110_and_6750_say() {
    let fields = prop_oneof![
        8 => any_field().prop_map(|field| vec![field]),
        1 => vec(any_field(), 0..4),
    ];
    fuzz(2_000, 500_000, fields, |values| {
        let mut headers = HeaderMap::new();
        for value in &values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).expect("a field value"));
        }
        let read = bearer_token(&headers);
        let (read, expected) = (read.as_ref(), model(&values));
        let read = read.map(|token| token.reveal().as_bytes());
        prop_assert_eq!(read, expected.as_ref().copied());
        Ok(())
    });
}

#[test]
fn token_parses_and_any_changed_text_does_not() {
    let texts = prop_oneof![
        4 => edited(any_token(), prop_oneof![4 => select(BASE62), 1 => any::<u8>()]),
        1 => any::<String>().prop_map(String::into_bytes),
    ];
    fuzz(2_000, 500_000, texts, |text| {
        let text = String::from_utf8_lossy(&text);
        match Token::parse(&text) {
            Ok(token) => {
                prop_assert!(is_token(text.as_bytes()));
                prop_assert_eq!(token.reveal(), &text);
            }
            Err(_) => prop_assert!(!is_token(text.as_bytes())),
        }
        Ok(())
    });
}
