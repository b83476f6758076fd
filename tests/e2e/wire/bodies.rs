//! The service accepts a body only if it is exactly a NewPlant. Otherwise the message explains why
//! the body is refused.

use plant_store_tests::{Server, plant};
use serde_json::json;

use super::errors::create_with_headers;
use super::logs::record_of;

/// All bodies are sent on one connection, which stays open because each body is read to its end.
#[test]
fn body_that_is_not_a_new_plant_is_400_with_the_reason() {
    let server = Server::start();
    let mut connection = server.connect();
    for (body, expected) in [
        // Not an object.
        (&b""[..], "the body must be a JSON object"),
        (br#"[1,"Ficus"]"#, "the body must be a JSON object"),
        (br#""Ficus""#, "the body must be a JSON object"),
        (b"null", "the body must be a JSON object"),
        (b"\xef\xbb\xbf{\"id\":1,\"name\":\"\"}", "the body must be a JSON object"),
        // Not JSON.
        (b"{", "EOF while parsing an object"),
        (br#"{"id":1,"name":""}x"#, "trailing characters"),
        (br#"{"id":1,"name":""}{}"#, "trailing characters"),
        (br#"{"id":1,"name":"",}"#, "trailing comma"),
        (br#"{id:1,"name":""}"#, "key must be a string"),
        (br#"{"id":01,"name":""}"#, "invalid number"),
        (b"{\"id\":1,\"name\":\"\n\"}", "control character"),
        (br#"{"id":1,"name":"","x":[1,]}"#, "`x`: expected value"),
        // Not UTF-8, also in a member that is ignored.
        (b"{\"id\":1,\"name\":\"\xff\"}", "not UTF-8 at byte 17"),
        (b"{\"id\":1,\"name\":\"\",\"x\":\"\xed\xa0\x80\"}", "not UTF-8 at byte 24"),
        // Missing members, and known members that occur twice.
        (b"{}", "missing field `id`"),
        (br#"{"id":1,"Name":""}"#, "missing field `name`"),
        (br#"{"id":1,"name":"","id":1}"#, "duplicate field `id`"),
        (br#"{"id":1,"name":"","n\u0061me":""}"#, "duplicate field `name`"),
        (br#"{"id":1,"name":"","tag":"a","tag":"a"}"#, "duplicate field `tag`"),
        // Values of the wrong type.
        (br#"{"id":null,"name":""}"#, "`id`: invalid type: null, expected i64"),
        (br#"{"id":"1","name":""}"#, "`id`: invalid type: string \"1\", expected i64"),
        (br#"{"id":1.0,"name":""}"#, "`id`: invalid type: floating point `1.0`, expected i64"),
        (br#"{"id":1e3,"name":""}"#, "`id`: invalid type: floating point"),
        (br#"{"id":-0,"name":""}"#, "`id`: invalid type: floating point `-0.0`"),
        (br#"{"id":9223372036854775808,"name":""}"#, "`id`: invalid value: integer"),
        (br#"{"id":-9223372036854775809,"name":""}"#, "`id`: invalid type: floating point"),
        (br#"{"id":1,"name":null}"#, "`name`: invalid type: null, expected a string"),
        (br#"{"id":1,"name":"","tag":null}"#, "`tag`: invalid type: null, expected a string"),
        (br#"{"id":1,"name":"","tag":{}}"#, "`tag`: invalid type: map, expected a string"),
        // Half a surrogate pair.
        (br#"{"id":1,"name":"\ud800"}"#, "`name`: unexpected end of hex escape"),
        (br#"{"id":1,"name":"","tag":"\udfff"}"#, "`tag`: lone leading surrogate"),
    ] {
        let shown = String::from_utf8_lossy(body);
        let answer = connection.exchange(&plant_store_tests::post(&server.bearer(), body));
        let (error, message) = answer.refusal();
        assert_eq!(error, 400, "{shown}");
        assert!(message.contains(expected), "{shown}: {message}");
    }
    assert!(server.export().is_empty());
}

/// A message may repeat a value, but not the middle of a long one. The record in the log only
/// contains the place.
#[test]
fn long_message_is_shortened_and_its_record_contains_no_value() {
    let server = Server::start();
    let body = format!(r#"{{"id":"{}","name":""}}"#, "secret".repeat(100));
    let answer = server.create(&body);
    let (_, message) = answer.refusal();
    assert!(message.starts_with("`id`: invalid type: string \"secret"), "{message}");
    assert!(message.ends_with("secret\", expected i64 at line 1 column 608"), "{message}");
    assert_eq!(message.chars().count(), 200);
    let record = record_of(&server, &answer);
    assert_eq!(record["cause"], "the body is refused at `id`, line 1 column 608");
    assert!(!server.log().contains("secret"));
}

#[test]
fn every_spelling_of_a_new_plant_is_accepted() {
    let server = Server::start();
    let deep = format!(r#"{{"id":9,"name":"","x":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000));
    let cases = [
        (r#"{"id":-9223372036854775808,"name":"least"}"#, i64::MIN, json!({ "name": "least" })),
        (r#"{"id":9223372036854775807,"name":"most"}"#, i64::MAX, json!({ "name": "most" })),
        (r#"{"name":"last","tag":"","id":1}"#, 1, json!({ "name": "last", "tag": "" })),
        ("\r\n\t {\n\"id\" : 2 ,\"name\" : \"wide\" } \n", 2, json!({ "name": "wide" })),
        (r#"{"\u0069d":3,"n\u0061me":"\u0000\ud83c\udf31\/"}"#, 3, json!({ "name": "\0🌱/" })),
        (r#"{"id":4,"name":"","ID":"x","Tag":null,"":[1e999]}"#, 4, json!({ "name": "" })),
        // Unknown members may occur twice, and are not decoded (RFC 8259, section 8.2).
        (r#"{"id":5,"name":"","x":1,"x":{"y":1,"y":2}}"#, 5, json!({ "name": "" })),
        (r#"{"id":6,"name":"","x":"\ud800"}"#, 6, json!({ "name": "" })),
        (deep.as_str(), 9, json!({ "name": "" })),
    ];
    for (body, _, expected) in &cases {
        assert_eq!(server.create(body).plant(), *expected, "{body:.100}");
    }
    let stored = server.export();
    assert_eq!(stored.len(), cases.len());
    for (_, id, mut expected) in cases {
        expected["id"] = id.into();
        assert_eq!(json!(stored[&id]), expected);
    }
}

#[test]
fn other_media_types_and_codings_are_415() {
    let server = Server::start();
    let body = plant(1, "Ficus", None);
    let answer =
        |headers: &str| server.connect().exchange(&create_with_headers(&server, headers, &body));
    for refused in [
        "",
        "Content-Type:\r\n",
        "Content-Type: text/json\r\n",
        "Content-Type: application/jsonx\r\n",
        "Content-Type: application/vnd.plants+json\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: application/json, application/json\r\n",
        "Content-Type: application/json\r\nContent-Type: application/json\r\n",
        "Content-Type: \"application/json\"\r\n",
        "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
        "Content-Type: application/json\r\nContent-Encoding: identity\r\n",
    ] {
        assert_eq!(answer(refused).error(), 415, "{refused}");
    }
    assert!(server.export().is_empty());
    for accepted in [
        "application/json",
        "application/json; charset=utf-8",
        "application/json; charset=latin1",
        "application/json;charset=\"UTF-8\"",
        "Application/JSON ; x=y",
    ] {
        answer(&format!("Content-Type: {accepted}\r\n")).plant();
    }
}
