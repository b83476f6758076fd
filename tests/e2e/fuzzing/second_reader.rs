//! A second reader of bodies, written from RFC 8259 and the contract alone. It is slow and simple,
//! and shares no code with the service's.

use std::collections::{BTreeMap, BTreeSet};
use std::str;
use std::string::FromUtf16Error;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::without_store::contract::document;

/// A string, unless an escape of it is half a surrogate pair.
type Text = Result<String, FromUtf16Error>;

/// A JSON value, with the detail that a plant needs.
enum Json {
    Object(Vec<(Text, Json)>),
    String(Text),
    Number(String),
    Other,
}

/// A member that the contract declares.
pub struct Member {
    /// Its format, or else its type.
    pub kind: String,
    pub is_required: bool,
}

/// The members that the contract declares, by name.
pub static MEMBERS: LazyLock<BTreeMap<String, Member>> = LazyLock::new(|| {
    let schema = &document()["components"]["schemas"]["NewPlant"];
    let required = schema["required"].as_array().expect("a list");
    let properties = schema["properties"].as_object().expect("an object");
    let member = |(name, of): (&String, &Value)| {
        let kind = of["format"].as_str().or(of["type"].as_str());
        let kind = kind.unwrap_or_else(|| panic!("`{name}`: this reader knows no reference yet"));
        let kind = kind.to_owned();
        (name.clone(), Member { kind, is_required: required.contains(&json!(name)) })
    };
    properties.iter().map(member).collect()
});

/// The plant in the body; none if the contract refuses the body.
pub fn new_plant(body: &[u8]) -> Option<Value> {
    let mut reader = Reader { rest: str::from_utf8(body).ok()? };
    let Json::Object(members) = reader.value()? else { return None };
    reader.rest.is_empty().then_some(())?;
    let mut plant = Map::new();
    let mut names = BTreeSet::new();
    for (name, value) in members {
        let name = name.ok()?;
        names.insert(name.clone()).then_some(())?;
        let Some(declared) = MEMBERS.get(&name) else { continue };
        let value = match (declared.kind.as_str(), value) {
            ("int64", Json::Number(digits)) => json!(digits.parse::<i64>().ok()?),
            ("int32", Json::Number(digits)) => json!(digits.parse::<i32>().ok()?),
            ("string", Json::String(text)) => json!(text.ok()?),
            ("int64" | "int32" | "string", _) => return None,
            (other, _) => panic!("`{name}`: this reader does not know {other} yet"),
        };
        plant.insert(name, value);
    }
    let is_given =
        |(name, member): (&String, &Member)| !member.is_required || plant.contains_key(name);
    MEMBERS.iter().all(is_given).then_some(Value::Object(plant))
}

/// RFC 8259 by recursive descent: each method reads its production from the beginning of the rest.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn character(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }

    /// A value and the whitespace around it.
    fn value(&mut self) -> Option<Json> {
        self.space();
        let value = match self.rest.chars().next()? {
            '{' => Json::Object(self.list('{', '}', |reader| {
                reader.space();
                let name = reader.string()?;
                reader.space();
                reader.take(":")?;
                Some((name, reader.value()?))
            })?),
            '[' => self.list('[', ']', Self::value).map(|_| Json::Other)?,
            '"' => Json::String(self.string()?),
            '-' | '0'..='9' => Json::Number(self.number()?),
            _ => {
                let literal = ["true", "false", "null"];
                self.take(literal.iter().find(|word| self.rest.starts_with(**word))?)?;
                Json::Other
            }
        };
        self.space();
        Some(value)
    }

    fn list<T>(
        &mut self,
        open: char,
        close: char,
        element: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut elements = Vec::new();
        (self.character()? == open).then_some(())?;
        self.space();
        if self.rest.starts_with(close) {
            self.character()?;
            return Some(elements);
        }
        loop {
            elements.push(element(self)?);
            match self.character()? {
                ',' => {}
                end if end == close => return Some(elements),
                _ => return None,
            }
        }
    }

    fn digits(&mut self) -> Option<()> {
        let rest = self.rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
        (rest.len() < self.rest.len()).then(|| self.rest = rest)
    }

    fn number(&mut self) -> Option<String> {
        let start = self.rest;
        let _ = self.take("-");
        if self.take("0").is_none() {
            self.digits()?;
        }
        if self.take(".").is_some() {
            self.digits()?;
        }
        if self.take("e").or_else(|| self.take("E")).is_some() {
            let _ = self.take("+").or_else(|| self.take("-"));
            self.digits()?;
        }
        Some(start[..start.len() - self.rest.len()].to_owned())
    }

    fn string(&mut self) -> Option<Text> {
        self.take("\"")?;
        let mut units = Vec::new();
        loop {
            match self.character()? {
                '"' => return Some(String::from_utf16(&units)),
                '\\' => units.push(self.escape()?),
                '\0'..='\x1f' => return None,
                other => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
            }
        }
    }

    fn escape(&mut self) -> Option<u16> {
        let character = self.character()?;
        if character == 'u' {
            let (digits, rest) = self.rest.split_at_checked(4)?;
            self.rest = rest;
            return digits
                .bytes()
                .all(|digit| digit.is_ascii_hexdigit())
                .then(|| u16::from_str_radix(digits, 16).expect("four hexadecimal digits"));
        }
        let index = r#""\/bfnrt"#.find(character)?;
        Some(u16::from(b"\"\\/\x08\x0c\n\r\t"[index]))
    }
}
