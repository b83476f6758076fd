//! A body is exactly a NewPlant, or it is refused and the message says why.

use plant_store_tests::{Connection, Server, head};
use serde_json::json;

/// Posts one body after another on one connection. It stays open, because each body is read to its
/// end before it is refused.
struct Poster {
    server: Server,
    connection: Connection,
}

impl Poster {
    fn start() -> Self {
        let server = Server::start();
        let connection = server.connect();
        Self { server, connection }
    }

    fn assert_refused(&mut self, body: &[u8], expected: &str) {
        let shown = String::from_utf8_lossy(&body[..body.len().min(100)]).into_owned();
        let headers = format!(
            "{}Content-Type: application/json\r\nContent-Length: {}\r\n",
            self.server.bearer(),
            body.len()
        );
        let answer = self.connection.exchange(&[head(&headers).as_bytes(), body].concat());
        let (error, message) = answer.refusal();
        assert_eq!(error, 400, "{shown}");
        assert!(message.contains(expected), "{shown}: {message}");
    }

    fn assert_accepted(&mut self, body: &str) -> serde_json::Value {
        self.connection.exchange(&self.server.post(body)).plant()
    }

    fn assert_nothing_stored(&self) {
        assert!(self.server.export().is_empty());
    }
}

#[test]
fn json_that_is_not_a_new_plant_is_400_and_names_the_member() {
    let mut poster = Poster::start();
    for (body, expected) in [
        (r#"[1,"Ficus"]"#, "must be a JSON object"),
        (r#"[{"id":1,"name":"Ficus"}]"#, "must be a JSON object"),
        (r#""Ficus""#, "must be a JSON object"),
        ("1", "must be a JSON object"),
        ("true", "must be a JSON object"),
        ("null", "must be a JSON object"),
        ("{}", "`id` is missing"),
        (r#"{"name":"Ficus"}"#, "`id` is missing"),
        (r#"{"id":1}"#, "`name` is missing"),
        (r#"{"id":1,"Name":"Ficus"}"#, "`name` is missing"),
        (r#"{"id":null,"name":"Ficus"}"#, "`id` is null"),
        (r#"{"id":"1","name":"Ficus"}"#, "`id` is a string"),
        (r#"{"id":[1],"name":"Ficus"}"#, "`id` is an array"),
        (r#"{"id":{},"name":"Ficus"}"#, "`id` is an object"),
        (r#"{"id":true,"name":"Ficus"}"#, "`id` is a boolean"),
        (r#"{"id":1.0,"name":"Ficus"}"#, "`id` is a number with a fraction"),
        (r#"{"id":-0.0,"name":"Ficus"}"#, "`id` is a number with a fraction"),
        (r#"{"id":1e3,"name":"Ficus"}"#, "or an exponent"),
        (r#"{"id":1E3,"name":"Ficus"}"#, "or an exponent"),
        (r#"{"id":9223372036854775808,"name":"Ficus"}"#, "`id` is out of range"),
        (r#"{"id":-9223372036854775809,"name":"Ficus"}"#, "`id` is out of range"),
        (r#"{"id":18446744073709551617,"name":"Ficus"}"#, "`id` is out of range"),
        (r#"{"id":1,"name":null}"#, "`name` is null"),
        (r#"{"id":1,"name":1}"#, "`name` is a number"),
        (r#"{"id":1,"name":["Ficus"]}"#, "`name` is an array"),
        (r#"{"id":1,"name":"Ficus","tag":null}"#, "`tag` is null"),
        (r#"{"id":1,"name":"Ficus","tag":false}"#, "`tag` is a boolean"),
        (r#"{"id":1,"name":"Ficus","tag":{}}"#, "`tag` is an object"),
        (r#"{"id":1,"name":"Ficus","id":1}"#, "`id` is given twice"),
        (r#"{"id":1,"name":"Ficus","name":"Ficus"}"#, "`name` is given twice"),
        (r#"{"id":1,"name":"Ficus","n\u0061me":"Fern"}"#, "`name` is given twice"),
        (r#"{"id":1,"name":"Ficus","tag":"a","tag":"a"}"#, "`tag` is given twice"),
        (r#"{"id":1,"name":"Ficus","x":1,"x":2}"#, "`x` is given twice"),
        (r#"{"x":1,"x":2}"#, "`x` is given twice"),
        (r#"{"id":1,"name":"\ud800"}"#, "`name` is a string with half a surrogate pair"),
        (r#"{"id":1,"name":"\udc00\ud800"}"#, "`name` is a string with half a surrogate pair"),
        (r#"{"id":1,"name":"","tag":"\udfff"}"#, "`tag` is a string with half a surrogate pair"),
    ] {
        poster.assert_refused(body.as_bytes(), expected);
    }
    poster.assert_nothing_stored();
}

#[test]
fn invalid_json_is_400_and_says_so() {
    const PLANT: &str = r#"{"id":1,"name":"Ficus"}"#;
    let mut poster = Poster::start();
    let trailing = |text: &str| format!("{PLANT}{text}");
    for body in [
        String::new(),
        " \r\n\t".into(),
        "{".into(),
        format!("\u{feff}{PLANT}"),
        trailing(PLANT),
        trailing("x"),
        trailing("\0"),
        PLANT[..PLANT.len() - 1].into(),
        r#"{"id":1,"name":"Ficus",}"#.into(),
        r#"{"id":1 "name":"Ficus"}"#.into(),
        r#"{id:1,"name":"Ficus"}"#.into(),
        r#"{"id":01,"name":"Ficus"}"#.into(),
        r#"{"id":1.,"name":"Ficus"}"#.into(),
        r#"{"id":NaN,"name":"Ficus"}"#.into(),
        r#"{"id":1,"name":"Ficus","x":[1,]}"#.into(),
        r#"{"id":1,"name":"Ficus","x":nul}"#.into(),
        r#"{"id":1,"name":"Ficus","\ud800":1}"#.into(),
        // A repeated member, then the end: the message names the invalid JSON.
        r#"{"x":1,"x":2"#.into(),
    ] {
        poster.assert_refused(body.as_bytes(), "the body is not JSON");
    }
    // RFC 8259, section 7: no raw control character in a string, wherever the string stands.
    for control in (0..0x20).map(char::from) {
        for place in [
            format!(r#"{{"id":1,"name":"{control}"}}"#),
            format!(r#"{{"id":1,"name":"","x":"{control}"}}"#),
            format!(r#"{{"id":1,"name":"","x{control}":1}}"#),
        ] {
            poster.assert_refused(place.as_bytes(), "the body is not JSON");
        }
    }
    for escape in [r"\x", r"\u12", r"\u12g4", r"\'", r"\"] {
        for member in ["name", "x"] {
            let body = format!(r#"{{"id":1,"{member}":"{escape}"}}"#);
            poster.assert_refused(body.as_bytes(), "the body is not JSON");
        }
    }
    poster.assert_nothing_stored();
}

/// RFC 3629: each kind of invalid sequence, in each place that a reader might skip.
#[test]
fn invalid_utf8_is_400_anywhere_in_the_body() {
    let mut poster = Poster::start();
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
    for bad in sequences {
        for (before, after) in [
            (r#"{"id":1,"name":""#, r#""}"#),
            (r#"{"id":1,"name":"","tag":""#, r#""}"#),
            (r#"{"id":1,"name":"","x":""#, r#""}"#),
            (r#"{"id":1,"name":"","x":[{"y":""#, r#""}]}"#),
            (r#"{"id":1,"name":"",""#, r#"":1}"#),
            (r#"{"id":1,"name":""}"#, ""),
            ("", r#"{"id":1,"name":""}"#),
        ] {
            let body = [before.as_bytes(), bad, after.as_bytes()].concat();
            let place = format!("byte {} is not UTF-8", before.len() + 1);
            poster.assert_refused(&body, &place);
        }
    }
    poster.assert_nothing_stored();
}

#[test]
fn every_spelling_of_a_new_plant_is_accepted() {
    let mut poster = Poster::start();
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
        assert_eq!(poster.assert_accepted(body), *expected, "{body:.100}");
    }
    let stored = poster.server.export();
    assert_eq!(stored.len(), cases.len());
    for (_, id, expected) in &cases {
        let plant = &stored[id];
        assert_eq!(plant.name, expected["name"]);
        assert_eq!(plant.tag.as_deref(), expected.get("tag").and_then(|tag| tag.as_str()));
    }
}

#[test]
fn other_media_types_and_codings_are_415() {
    let server = Server::start();
    let body = r#"{"id":1,"name":"Ficus"}"#;
    let answer = |headers: &str| {
        let length = format!("Content-Length: {}\r\n", body.len());
        server
            .connect()
            .exchange(format!("{}{body}", head(&(server.bearer() + &length + headers))).as_bytes())
    };
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
        assert_eq!(answer(refused).refusal().0, 415, "{refused}");
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
