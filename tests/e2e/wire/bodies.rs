//! A body is exactly a NewPlant, or it is refused and the message says why.

use plant_store_tests::{Server, plant, post};
use serde_json::json;

use super::errors::with;

/// Posts each body on one connection, which stays open because each is read to its end. Each must
/// be refused with this text in the message, and nothing is stored.
fn assert_refused<B: AsRef<[u8]>>(refused: impl IntoIterator<Item = (B, impl AsRef<str>)>) {
    let server = Server::start();
    let mut connection = server.connect();
    for (body, expected) in refused {
        let shown = String::from_utf8_lossy(body.as_ref());
        let answer = connection.exchange(&post(&server.bearer(), body.as_ref()));
        let (error, message) = answer.refusal();
        assert_eq!(error, 400, "{shown}");
        assert!(message.contains(expected.as_ref()), "{shown}: {message}");
    }
    assert!(server.export().is_empty());
}

#[test]
fn json_that_is_not_a_new_plant_is_400_and_names_the_member() {
    assert_refused([
        (r#"[1,"Ficus"]"#, "must be a JSON object"),
        (r#""Ficus""#, "must be a JSON object"),
        ("null", "must be a JSON object"),
        ("{}", "`id` is missing"),
        (r#"{"name":"Ficus"}"#, "`id` is missing"),
        (r#"{"id":1}"#, "`name` is missing"),
        (r#"{"id":1,"Name":"Ficus"}"#, "`name` is missing"),
        (r#"{"id":null,"name":"Ficus"}"#, "`id` is null"),
        (r#"{"id":"1","name":"Ficus"}"#, "`id` is a string"),
        (r#"{"id":[1],"name":"Ficus"}"#, "`id` is an array"),
        (r#"{"id":true,"name":"Ficus"}"#, "`id` is a boolean"),
        (r#"{"id":1.0,"name":"Ficus"}"#, "`id` is a number with a fraction"),
        (r#"{"id":-0.0,"name":"Ficus"}"#, "`id` is a number with a fraction"),
        (r#"{"id":1e3,"name":"Ficus"}"#, "or an exponent"),
        (r#"{"id":9223372036854775808,"name":"Ficus"}"#, "`id` is out of range"),
        (r#"{"id":-9223372036854775809,"name":"Ficus"}"#, "`id` is out of range"),
        (r#"{"id":1,"name":null}"#, "`name` is null"),
        (r#"{"id":1,"name":1}"#, "`name` is a number"),
        (r#"{"id":1,"name":"Ficus","tag":null}"#, "`tag` is null"),
        (r#"{"id":1,"name":"Ficus","tag":false}"#, "`tag` is a boolean"),
        (r#"{"id":1,"name":"Ficus","tag":{}}"#, "`tag` is an object"),
        (r#"{"id":1,"name":"Ficus","id":1}"#, "`id` is given twice"),
        (r#"{"id":1,"name":"Ficus","n\u0061me":"Fern"}"#, "`name` is given twice"),
        (r#"{"id":1,"name":"Ficus","tag":"a","tag":"a"}"#, "`tag` is given twice"),
        (r#"{"id":1,"name":"Ficus","x":1,"x":2}"#, "`x` is given twice"),
        (r#"{"x":1,"x":2}"#, "`x` is given twice"),
        (r#"{"id":1,"name":"\ud800"}"#, "`name` is a string with half a surrogate pair"),
        (r#"{"id":1,"name":"","tag":"\udfff"}"#, "`tag` is a string with half a surrogate pair"),
    ]);
}

#[test]
fn invalid_json_is_400_and_says_so() {
    const PLANT: &str = r#"{"id":1,"name":"Ficus"}"#;
    let bodies = ["", " \r\n\t", "{", &PLANT[..PLANT.len() - 1]].map(str::to_owned);
    let more = [("\u{feff}", ""), ("", PLANT), ("", "x"), ("", "\0")];
    let around = more.map(|(before, after)| format!("{before}{PLANT}{after}"));
    let inside = [
        r#"{"id":1,"name":"Ficus",}"#,
        r#"{"id":1 "name":"Ficus"}"#,
        r#"{id:1,"name":"Ficus"}"#,
        r#"{"id":01,"name":"Ficus"}"#,
        r#"{"id":1.,"name":"Ficus"}"#,
        r#"{"id":NaN,"name":"Ficus"}"#,
        r#"{"id":1,"name":"Ficus","x":[1,]}"#,
        r#"{"id":1,"name":"Ficus","x":nul}"#,
        r#"{"id":1,"name":"Ficus","\ud800":1}"#,
        // A repeated member, then the end: the message names the invalid JSON.
        r#"{"x":1,"x":2"#,
    ];
    // RFC 8259, section 7: no raw control character in a string, wherever the string stands.
    let controls = (0..0x20).map(|control| char::from(control).to_string());
    let escapes = [r"\x", r"\u12", r"\u12g4", r"\'", r"\"].map(str::to_owned);
    let in_strings = controls.chain(escapes).flat_map(|bad| {
        let plants = [r#"{"id":1,"name":"?"}"#, r#"{"id":1,"name":"","x":"?"}"#, r#"{"?":1}"#];
        plants.map(|plant| plant.replace('?', &bad))
    });
    let all = bodies.into_iter().chain(around).chain(inside.map(str::to_owned)).chain(in_strings);
    assert_refused(all.map(|body| (body, "the body is not JSON")));
}

/// RFC 3629: each kind of invalid sequence, in each part of a body that a reader might skip.
#[test]
fn invalid_utf8_is_400_anywhere_in_the_body() {
    let sequences: [&[u8]; 9] = [
        b"\x80",
        b"\xff",
        b"\xc3",
        b"\xe2\x82",
        b"\xf0\x9f\x8c",
        b"\xc0\x80",
        b"\xe0\x80\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
    ];
    let around = [
        (r#"{"id":1,"name":""#, r#""}"#),
        (r#"{"id":1,"name":"","x":[{"y":""#, r#""}]}"#),
        (r#"{"id":1,"name":"",""#, r#"":1}"#),
        (r#"{"id":1,"name":""}"#, ""),
        ("", r#"{"id":1,"name":""}"#),
    ];
    assert_refused(sequences.into_iter().flat_map(|bad| {
        around.map(|(before, after)| {
            let body = [before.as_bytes(), bad, after.as_bytes()].concat();
            (body, format!("byte {} is not UTF-8", before.len() + 1))
        })
    }));
}

#[test]
fn every_spelling_of_a_new_plant_is_accepted() {
    let server = Server::start();
    let deep = format!(r#"{{"id":9,"name":"","x":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000));
    let cases = [
        (r#"{"id":-9223372036854775808,"name":"least"}"#, i64::MIN, json!({ "name": "least" })),
        (r#"{"id":9223372036854775807,"name":"most"}"#, i64::MAX, json!({ "name": "most" })),
        (r#"{"id":-0,"name":"zero"}"#, 0, json!({ "name": "zero" })),
        (r#"{"name":"last","tag":"","id":1}"#, 1, json!({ "name": "last", "tag": "" })),
        ("\r\n\t {\n\"id\" : 2 ,\"name\" : \"wide\" } \n", 2, json!({ "name": "wide" })),
        (r#"{"\u0069d":3,"n\u0061me":"\u0000\ud83c\udf31\/"}"#, 3, json!({ "name": "\0🌱/" })),
        (r#"{"id":4,"name":"","ID":"x","Tag":null,"":[1e999]}"#, 4, json!({ "name": "" })),
        (r#"{"id":5,"name":"","x":{"y":1,"y":2}}"#, 5, json!({ "name": "" })),
        // Valid JSON (RFC 8259, section 8.2). The member is unknown, so nothing decodes it.
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
    let answer = |headers: &str| server.connect().exchange(&with(&server, headers, &body));
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
        "application/json;charset=\"UTF-8\"",
        "Application/JSON ; x=y",
    ] {
        answer(&format!("Content-Type: {accepted}\r\n")).plant();
    }
}
