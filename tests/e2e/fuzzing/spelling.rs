//! Bodies that are plants or almost plants, spelled in every way that RFC 8259 allows.

use plant_store_api::types::{NewPlant, Plant};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Selector, select};

/// A plant, and a body that spells it.
pub fn spelled_plant() -> impl Strategy<Value = (NewPlant, Vec<u8>)> {
    let id = prop_oneof![any::<i64>(), -9..9_i64, Just(i64::MIN), Just(i64::MAX)];
    let others = vec((string(), value()), 0..4);
    let plant = (id, string(), proptest::option::of(string()), others);
    (plant, any::<bool>(), space(), any::<Selector>()).prop_map(
        |((id, name, tag, others), escape, space, order)| {
            let names = if escape { [r"\u0069d", r"n\u0061me", r"ta\u0067"] } else { NAMES };
            let [id_name, name_name, tag_name] = names.map(str::to_owned);
            let mut members = vec![(id_name, id.to_string()), (name_name, name.1)];
            members.extend(tag.iter().map(|(_, spelled)| (tag_name.clone(), spelled.clone())));
            for (place, ((_, name), value)) in others.into_iter().enumerate() {
                // With a digit in front, the name is unique and not one of `NAMES`.
                members.push((format!("{place}{}", &name[1..name.len() - 1]), value));
            }
            let plant =
                NewPlant { id, plant: Plant { name: name.0, tag: tag.map(|(tag, _)| tag) } };
            (plant, object(members, &space, &order))
        },
    )
}

/// The names of the members.
pub const NAMES: [&str; 3] = ["id", "name", "tag"];

/// An object that may lack members, have members of a wrong type, or repeat a member.
pub fn near_plant() -> impl Strategy<Value = Vec<u8>> {
    let right = (any::<i64>(), string()).prop_map(|(id, (_, name))| {
        vec![("id".to_owned(), id.to_string()), ("name".to_owned(), name)]
    });
    let others = ["tag", "ID", "", "x", "x", r"nam\u0065", r"\ud800"];
    let name = select([&NAMES[..], &others].concat());
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
