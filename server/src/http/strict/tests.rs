use std::collections::BTreeMap;

use plant_store_api::types::NewPlant;
use serde::Deserialize;

use super::*;

fn read(body: &[u8]) -> Result<Read<NewPlant>, SchemaError> {
    super::read(body)
}

fn message(body: &str) -> String {
    read(body.as_bytes()).expect_err("no NewPlant").to_string()
}

#[test]
fn new_plant_is_read_with_every_member() {
    let read = read(br#"{"tag":"","x":[{}],"name":"\u0000","id":-1}"#).expect("a NewPlant");
    let NewPlant { id, name, tag, .. } = read.value;
    assert_eq!((id, name.as_str(), tag.as_deref()), (-1, "\0", Some("")));
    assert_eq!(read.ignored, ["x"]);
}

#[test]
fn message_names_the_fault() {
    for (body, expected) in [
        ("{", "the body is not JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "the body must be a JSON object: a NewPlant of the document"),
        (r#"{"x":1,"x":2,"y":1,"y":2}"#, "`x` is given twice; every member may be given once"),
        (r#"{"name":""}"#, "`id` is missing"),
        (r#"{"id":"1"}"#, "`id` is a string; expected an integer of 64 bits"),
        (r#"{"id":1,"tag":""}"#, "`name` is missing"),
        (r#"{"id":1,"name":"","tag":null}"#, "`tag` is null; expected a string"),
    ] {
        assert_eq!(message(body), expected, "{body}");
    }
    let bad = read(b"[\xff").expect_err("no UTF-8").to_string();
    assert_eq!(bad, "the body is not JSON: byte 2 is not UTF-8");
}

#[test]
fn message_repeats_no_value_and_40_characters_of_a_name() {
    for body in [
        r#"{"id":"secret","name":""}"#,
        r#"{"id":1,"name":["secret"]}"#,
        r#"{"id":1,"name":"secret\ud800"}"#,
        r#"{"id":1,"name":"secret"#,
        r#"{"id":1,"name":secret}"#,
    ] {
        assert!(!message(body).contains("secret"), "{body}");
    }
    let name = "é".repeat(1000);
    let expected = format!("`{}` is given twice", "é".repeat(40));
    assert!(message(&format!(r#"{{"{name}":1,"{name}":1}}"#)).starts_with(&expected));
}

#[test]
fn repeated_name_is_found_among_few_and_among_many() {
    for others in [0, 1, 100] {
        let others =
            (0..others).map(|other| format!(r#","{other}":0"#)).collect::<Vec<_>>().concat();
        assert!(read(format!(r#"{{"id":1,"name":""{others}}}"#).as_bytes()).is_ok());
        for name in ["id", "name"] {
            let body = format!(r#"{{"id":1,"name":""{others},"{name}":1}}"#);
            assert!(message(&body).starts_with(&format!("`{name}` is given twice")), "{body}");
        }
    }
}

#[test]
fn three_names_of_ignored_members_are_kept_and_each_is_shortened() {
    let long = "é".repeat(41);
    let body = format!(r#"{{"{long}":1,"id":1,"":2,"name":"","colour":5,"size":6}}"#);
    let ignored = read(body.as_bytes()).expect("a plant").ignored;
    assert_eq!(ignored, [&*"é".repeat(40), "", "colour"]);
}

/// A type with a member of each kind that the contract may get.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
struct EveryKind {
    text: String,
    integer: i32,
    count: Option<u8>,
    truth: Option<bool>,
    fraction: Option<f64>,
    light: Option<Light>,
    height: Option<Height>,
    names: Vec<String>,
    size: Option<Size>,
    prices: BTreeMap<String, f64>,
    planted: Option<Day>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Light {
    Sun,
    Shade,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Height(i16);

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Size {
    width: u8,
    depth: Option<u8>,
}

/// A string with a form of its own, as a date or a UUID is.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
struct Day(String);

impl TryFrom<String> for Day {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.len() == 10 { Ok(Self(text)) } else { Err("secret") }
    }
}

fn read_kind(members: &str) -> Result<EveryKind, SchemaError> {
    super::read(format!("{{{members}}}").as_bytes()).map(|read| read.value)
}

#[test]
fn member_of_each_kind_is_read() {
    let read = read_kind(
        r#""text":"\u00e9","integer":-0,"count":255,"truth":true,"fraction":-1.5e2,"light":"shade",
           "height":-3,"names":["a"],"size":{"width":1},"prices":{"EUR":1},"planted":"2026-11-23""#,
    );
    let expected = EveryKind {
        text: "é".into(),
        integer: 0,
        count: Some(255),
        truth: Some(true),
        fraction: Some(-150.0),
        light: Some(Light::Shade),
        height: Some(Height(-3)),
        names: vec!["a".into()],
        size: Some(Size { width: 1, depth: None }),
        prices: BTreeMap::from([("EUR".into(), 1.0)]),
        planted: Some(Day("2026-11-23".into())),
    };
    assert_eq!(read, Ok(expected));
    assert_eq!(read_kind(""), Ok(EveryKind::default()));
}

#[test]
fn member_of_another_type_is_refused_with_what_was_expected() {
    for (member, expected) in [
        (r#""text":1"#, "`text` is a number; expected a string"),
        (r#""integer":2147483648"#, "`integer` is out of range; expected an integer of 32 bits"),
        (r#""integer":null"#, "`integer` is null; expected an integer of 32 bits"),
        (
            r#""integer":1e2"#,
            "`integer` is a number with a fraction or an exponent; expected an integer of 32 bits",
        ),
        (r#""count":256"#, "`count` is out of range; expected an integer of 8 bits, from 0 on"),
        (r#""count":null"#, "`count` is null; expected an integer of 8 bits, from 0 on"),
        (r#""truth":null"#, "`truth` is null; expected a boolean"),
        (r#""truth":"true""#, "`truth` is a string; expected a boolean"),
        (r#""height":"tall""#, "`height` is a string; expected an integer of 16 bits"),
    ] {
        assert_eq!(read_kind(member).expect_err("refused").to_string(), expected, "{member}");
    }
}

#[test]
fn value_that_serde_json_refuses_names_its_member_and_repeats_nothing() {
    for (name, values) in [
        ("fraction", ["\"1.5\"", "1e999", "null"]),
        ("light", ["\"secret\"", "0", "null"]),
        ("names", ["\"a\"", "[1]", "null"]),
        ("size", ["[1]", "{}", "{\"width\":1,\"width\":1}"]),
        ("prices", ["[]", "{\"EUR\":\"1\"}", "null"]),
        ("planted", ["\"soon\"", "\"\"", "\"secret\""]),
    ] {
        for value in values {
            let refused = read_kind(&format!("\"{name}\":{value}")).expect_err("refused");
            let expected = format!("`{name}` has a value that the document does not allow");
            assert_eq!(refused.to_string(), expected, "{value}");
        }
    }
}

/// What the module's documentation says of the inside of a nested object.
#[test]
fn nested_object_may_have_null_for_an_optional_member_and_an_unknown_one_twice() {
    let size = read_kind(r#""size":{"width":1,"depth":null,"x":1,"x":2}"#).expect("read").size;
    assert_eq!(size, Some(Size { width: 1, depth: None }));
}
