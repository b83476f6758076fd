use plant_store_api::types::Plant;

use super::*;

fn read(body: &[u8]) -> Result<Sent<Plant>, NotANewPlant> {
    super::read(body)
}

fn message(body: &str) -> String {
    read(body.as_bytes()).expect_err("no NewPlant").to_string()
}

#[test]
fn new_plant_is_read_with_every_member() {
    let plant = Plant { name: "\0".into(), tag: Some(String::new()) };
    let sent = Sent { id: -1, plant, ignored: vec!["x".into()] };
    assert_eq!(read(br#"{"tag":"","x":[{}],"name":"\u0000","id":-1}"#), Ok(sent));
}

#[test]
fn message_names_the_fault() {
    for (body, expected) in [
        ("{", "the body is not JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "the body must be a JSON object: a NewPlant of the document"),
        (r#"{"x":1,"x":2,"y":1,"y":2}"#, "`x` is given twice; every member may be given once"),
        (r#"{"name":1}"#, "`id` is missing"),
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

/// Types of members that the contract may get.
#[test]
fn integer_of_32_bits_and_boolean_are_read_strictly() {
    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "it is shown")]
    struct Other {
        small: Option<i32>,
        wild: Option<bool>,
    }
    for (value, expected) in [
        ("\"small\":-2147483648", "Other { small: Some(-2147483648), wild: None }"),
        ("\"small\":-0,\"wild\":true", "Other { small: Some(0), wild: Some(true) }"),
        ("\"small\":2147483648", "`small` is out of range; expected an integer of 32 bits"),
        ("\"small\":null", "`small` is null; expected an integer of 32 bits"),
        (
            "\"small\":1e2",
            "`small` is a number with a fraction or an exponent; expected an integer of 32 bits",
        ),
        ("\"wild\":null", "`wild` is null; expected a boolean"),
        ("\"wild\":\"true\"", "`wild` is a string; expected a boolean"),
    ] {
        let read = super::read::<Other>(format!(r#"{{"id":1,{value}}}"#).as_bytes());
        let read = read.map_or_else(|why| why.to_string(), |sent| format!("{:?}", sent.plant));
        assert_eq!(read, expected, "{value}");
    }
}
