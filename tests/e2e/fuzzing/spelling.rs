//! Bodies that are plants or almost plants, spelled in every way that RFC 8259 allows.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Selector, select};
use serde_json::{Map, Value, json};

use super::second_reader::{Plant, declared, is_required};

/// A member of a body: its name, its value, and how the value is spelled.
type Member = (String, Value, String);

/// A plant, and a body that spells it.
pub fn spelled_plant() -> impl Strategy<Value = (Plant, Vec<u8>)> {
    let members: Vec<_> = declared().keys().map(|name| member(name)).collect();
    let others = vec((string(), value()), 0..4);
    (members, others, any::<bool>(), space(), any::<Selector>()).prop_map(
        |(members, others, escape, space, order)| {
            let (mut plant, mut body) = (Map::new(), Vec::new());
            for (name, value, spelled) in members.into_iter().flatten() {
                body.push((if escape { escaped_name(&name) } else { name.clone() }, spelled));
                plant.insert(name, value);
            }
            for (place, ((_, name), value)) in others.into_iter().enumerate() {
                // With a digit in front, the name is unique and not a declared one.
                body.push((format!("{place}{}", &name[1..name.len() - 1]), value));
            }
            let id = plant.remove("id").expect("a required member").as_i64().expect("an integer");
            ((id, Value::from(plant)), object(body, &space, &order))
        },
    )
}

/// A declared member; none at times if it is optional.
fn member(name: &'static str) -> BoxedStrategy<Option<Member>> {
    let schema = &declared()[name];
    let value = match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), None) => {
            string().prop_map(|(text, spelled)| (json!(text), spelled)).boxed()
        }
        (Some("integer"), Some("int64")) => integer(i64::MIN, i64::MAX),
        (Some("integer"), Some("int32")) => integer(i32::MIN.into(), i32::MAX.into()),
        _ => panic!("`{name}`: this test cannot spell a value of {schema} yet"),
    };
    let member = value.prop_map(move |(value, spelled)| (name.to_owned(), value, spelled));
    match is_required(name) {
        true => member.prop_map(Some).boxed(),
        false => proptest::option::of(member).boxed(),
    }
}

fn integer(least: i64, most: i64) -> BoxedStrategy<(Value, String)> {
    prop_oneof![least..=most, -9..9_i64, Just(least), Just(most)]
        .prop_map(|number| (json!(number), number.to_string()))
        .boxed()
}

/// The same name, its first letter escaped.
fn escaped_name(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(escaped).unwrap_or_default() + letters.as_str()
}

/// An object that may lack members, have members of a wrong type, or repeat a member.
pub fn near_plant() -> impl Strategy<Value = Vec<u8>> {
    let names: Vec<_> = declared().keys().map(String::as_str).collect();
    let right: Vec<_> =
        names.iter().filter(|name| is_required(name)).map(|name| member(name)).collect();
    let right = right.prop_map(|members| {
        let members = members.into_iter().flatten();
        members.map(|(name, _, spelled)| (name, spelled)).collect::<Vec<_>>()
    });
    let others = ["ID", "", "x", "x", r"nam\u0065", r"\ud800"];
    let name = select([&names[..], &others].concat());
    let value = prop_oneof![string().prop_map(|(_, spelled)| spelled), value()];
    let more = vec((name.prop_map(str::to_owned), value), 0..4);
    (prop_oneof![4 => right, 1 => Just(Vec::new())], more, space(), any::<Selector>())
        .prop_map(|(right, more, space, order)| object([right, more].concat(), &space, &order))
}

fn space() -> impl Strategy<Value = Vec<&'static str>> {
    vec(select(vec!["", "", "", " ", "\n", "\t\r "]), 8)
}

fn object(mut members: Vec<(String, String)>, space: &[&str], order: &Selector) -> Vec<u8> {
    let mut body = String::new();
    let mut gaps = space.iter().cycle();
    let mut write = |text: &str| {
        body += text;
        body += gaps.next().expect("a cycle has no end");
    };
    write("");
    let mut before = "{";
    while !members.is_empty() {
        let (name, value) = members.swap_remove(order.select(0..members.len()));
        write(before);
        write(&format!("\"{name}\""));
        write(":");
        write(&value);
        before = ",";
    }
    write("}");
    body.into_bytes()
}

/// A string and a spelling of it, each character written out or escaped.
fn string() -> impl Strategy<Value = (String, String)> {
    let common = select(vec!['a', 'i', 'd', '"', '\\', '/', '\0', '\n', '\u{7f}', 'é', '🌱']);
    vec((prop_oneof![common, any::<char>()], any::<bool>()), 0..12).prop_map(|characters| {
        let mut spelled = String::from('"');
        for (character, escape) in &characters {
            match character {
                '"' | '\\' | '/' if *escape => spelled.extend(['\\', *character]),
                '\n' if *escape => spelled += r"\n",
                '\0'..='\x1f' | '"' | '\\' => spelled += &escaped(*character),
                _ if *escape => spelled += &escaped(*character),
                _ => spelled.push(*character),
            }
        }
        spelled.push('"');
        (characters.into_iter().map(|(character, _)| character).collect(), spelled)
    })
}

fn escaped(character: char) -> String {
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units).iter();
    units.map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat()
}

/// A value for an unknown member: valid JSON, even if it cannot be decoded.
fn value() -> impl Strategy<Value = String> {
    select(vec![
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.0",
        "-0.0e+00",
        "9223372036854775808",
        "1e999",
        "123456789012345678901234567890",
        r#""""#,
        r#""\ud800""#,
        r#""\uDC00\uD800""#,
        "[]",
        "{}",
        "[[], {\"\":[null , 1]}]",
        r#"{"id":1,"id":"1"}"#,
        r#"{"\ud800":1}"#,
    ])
    .prop_map(str::to_owned)
}
