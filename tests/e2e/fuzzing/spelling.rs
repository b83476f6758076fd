//! Bodies that are plants or almost plants, spelled in every way that RFC 8259 allows.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Selector, select};
use serde_json::{Map, Value, json};

use super::second_reader::{MEMBERS, Member};

/// A declared member of a body.
#[derive(Clone, Debug)]
struct Declared {
    name: String,
    value: Value,
    /// A spelling of the value.
    spelled: String,
    is_given: bool,
}

/// Each declared member, with a value of its type.
fn declared() -> Vec<impl Strategy<Value = Declared>> {
    let declared = |(name, member): (&String, &Member)| {
        let value = match member.kind.as_str() {
            "int64" => {
                integer(prop_oneof![any::<i64>(), -9..9_i64, Just(i64::MIN), Just(i64::MAX)])
            }
            "int32" => integer(any::<i32>().prop_map(i64::from)),
            "string" => string().prop_map(|(text, spelled)| (json!(text), spelled)).boxed(),
            other => panic!("`{name}`: no value of {other} is spelled yet"),
        };
        let is_given = if member.is_required { Just(true).boxed() } else { any::<bool>().boxed() };
        (Just(name.clone()), value, is_given).prop_map(|(name, (value, spelled), is_given)| {
            Declared { name, value, spelled, is_given }
        })
    };
    MEMBERS.iter().map(declared).collect()
}

fn integer(value: impl Strategy<Value = i64> + 'static) -> BoxedStrategy<(Value, String)> {
    value.prop_map(|integer| (json!(integer), integer.to_string())).boxed()
}

/// A plant, and a body that spells it.
pub fn spelled_plant() -> impl Strategy<Value = (Value, Vec<u8>)> {
    let others = vec((string(), value()), 0..4);
    (declared(), others, any::<bool>(), space(), any::<Selector>()).prop_map(
        |(declared, others, escape, space, order)| {
            let mut plant = Map::new();
            let mut members = Vec::new();
            for member in declared.into_iter().filter(|member| member.is_given) {
                let first = member.name.chars().next().expect("a name");
                let escaped = escaped(first) + &member.name[first.len_utf8()..];
                let name = if escape { escaped } else { member.name.clone() };
                members.push((name, member.spelled));
                plant.insert(member.name, member.value);
            }
            for (digit, ((_, quoted), value)) in others.into_iter().enumerate() {
                // With a digit in front, the name is unique and not a declared one.
                members.push((format!("{digit}{}", &quoted[1..quoted.len() - 1]), value));
            }
            (Value::Object(plant), object(members, &space, &order))
        },
    )
}

/// An object that may lack members, have members of a wrong type, or repeat a member.
pub fn near_plant() -> impl Strategy<Value = Vec<u8>> {
    let right = declared().prop_map(|members| {
        let given = members.into_iter().filter(|member| member.is_given);
        given.map(|member| (member.name, member.spelled)).collect()
    });
    let others = ["ID", "", "x", "x", r"nam\u0065", r"\ud800"].map(str::to_owned);
    let name = select(MEMBERS.keys().cloned().chain(others).collect::<Vec<_>>());
    let value = prop_oneof![string().prop_map(|(_, spelled)| spelled), value()];
    let more = vec((name, value), 0..4);
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
    let mut buffer = [0; 2];
    let units = character.encode_utf16(&mut buffer).iter();
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
