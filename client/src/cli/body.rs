//! The body of an operation, judged before it is sent: by what the document says, in the words of
//! the service, and with one rule more. A member that the document does not have is refused,
//! because the service would ignore it: a mistyped name would lose its value.
//!
//! A member whose type is no string, integer or boolean is judged by the service alone.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;
use std::{fmt, fs, io};

use clap::ArgMatches;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::members::{Body, Kind, Member};

/// The flag that has unknown members sent.
pub const IGNORE_UNKNOWN: &str = "ignore-unknown";

/// How much of a name is repeated in a message, in characters.
const SHOWN: usize = 40;

/// Why a body is not sent.
#[derive(Debug, thiserror::Error)]
pub enum InvalidBody {
    #[error("the body is not JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("the body must be a JSON object: a {0} of the document")]
    NotAnObject(&'static str),
    #[error("`{0}` is given twice; every member may be given once")]
    Repeated(String),
    #[error(
        "`{name}` is not a member of {body} (nearest: `{nearest}`): correct it, or add \
         --ignore-unknown"
    )]
    Unknown { name: String, body: &'static str, nearest: &'static str },
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`{member}` is {found}; expected {expected}")]
    Mismatch { member: &'static str, found: &'static str, expected: &'static str },
    /// The type of the contract takes no such value.
    #[error(transparent)]
    NotOfTheType(serde_json::Error),
}

/// The text of a file, or of standard input if its name is `-`. The generated commands read the
/// file of `--json-body` with it.
pub fn read(file: &Path) -> io::Result<String> {
    if file == Path::new("-") {
        return io::read_to_string(io::stdin());
    }
    fs::read_to_string(file)
}

/// The body that this text is. The generated commands make it of what [`read`] gives.
pub fn parse<T: Body>(text: &str, matches: &ArgMatches) -> Result<T, InvalidBody> {
    check::<T>(text.as_bytes(), matches.get_flag(IGNORE_UNKNOWN))?;
    serde_json::from_str(text).map_err(InvalidBody::NotOfTheType)
}

/// Fails if the service would refuse the body, or would ignore a member of it.
pub fn check<T: Body>(text: &[u8], ignores_unknown: bool) -> Result<(), InvalidBody> {
    let members = members_of(text).map_err(|error| match error.classify() {
        Category::Data => InvalidBody::NotAnObject(T::NAME),
        Category::Syntax | Category::Eof | Category::Io => InvalidBody::NotJson(error),
    })?;
    let mut names = HashSet::new();
    if let Some(repeated) = members.iter().find(|sent| !names.insert(&*sent.name)) {
        return Err(InvalidBody::Repeated(shown(&repeated.name)));
    }
    let known = |name: &str| T::MEMBERS.iter().find(|member| member.name == name);
    if let Some(unknown) = members.iter().find(|sent| known(&sent.name).is_none())
        && !ignores_unknown
    {
        return Err(InvalidBody::Unknown {
            name: shown(&unknown.name),
            body: T::NAME,
            nearest: nearest::<T>(&unknown.name),
        });
    }
    let mut required = T::MEMBERS.iter().filter(|member| member.is_required);
    if let Some(missing) = required.find(|member| !names.contains(member.name)) {
        return Err(InvalidBody::Missing(missing.name));
    }
    for sent in &members {
        if let Some(member) = known(&sent.name) {
            judge(member, sent.value.get())?;
        }
    }
    Ok(())
}

/// The member whose name is most like this one.
fn nearest<T: Body>(name: &str) -> &'static str {
    let names = T::MEMBERS.iter().map(|member| member.name);
    let likeness = |candidate: &str| strsim::jaro_winkler(name, candidate);
    names.max_by(|one, other| likeness(one).total_cmp(&likeness(other))).unwrap_or_default()
}

/// The beginning of a name.
fn shown(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

/// Compares a value, as it is written, with what the document says of its member.
fn judge(member: &Member, value: &str) -> Result<(), InvalidBody> {
    match member.kind {
        Kind::Text if kind_of(value) == STRING => {
            // The only error left is an escape that names half a surrogate pair.
            let text = serde_json::from_str::<Cow<str>>(value);
            text.map(drop)
                .map_err(|_| mismatch(member, "a string with half a surrogate pair", STRING))
        }
        Kind::Text => Err(mismatch(member, kind_of(value), STRING)),
        Kind::Integer32 => integer::<i32>(member, value, "an integer of 32 bits"),
        Kind::Integer64 => integer::<i64>(member, value, "an integer of 64 bits"),
        Kind::Boolean if kind_of(value) == BOOLEAN => Ok(()),
        Kind::Boolean => Err(mismatch(member, kind_of(value), BOOLEAN)),
        Kind::RestrictedText | Kind::Other => Ok(()),
    }
}

const STRING: &str = "a string";
const NUMBER: &str = "a number";
const BOOLEAN: &str = "a boolean";

/// An integer is a number without fraction and exponent, as in JSON Schema: the text decides.
fn integer<T: FromStr>(
    member: &Member,
    value: &str,
    expected: &'static str,
) -> Result<(), InvalidBody> {
    if value.parse::<T>().is_ok() {
        return Ok(());
    }
    let found = match kind_of(value) {
        NUMBER if value.contains(['.', 'e', 'E']) => "a number with a fraction or an exponent",
        NUMBER => "out of range",
        other => other,
    };
    Err(mismatch(member, found, expected))
}

fn mismatch(member: &Member, found: &'static str, expected: &'static str) -> InvalidBody {
    InvalidBody::Mismatch { member: member.name, found, expected }
}

/// The kind of a value (RFC 8259, section 3), which its first byte tells.
fn kind_of(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => STRING,
        Some(b't' | b'f') => BOOLEAN,
        Some(b'n') => "null",
        _ => NUMBER,
    }
}

/// A member as it was written.
struct Sent<'a> {
    name: Cow<'a, str>,
    value: &'a RawValue,
}

/// The members of a JSON object, also those that are there twice.
fn members_of(text: &[u8]) -> serde_json::Result<Vec<Sent<'_>>> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let members = json.deserialize_map(Members)?;
    json.end()?;
    Ok(members)
}

/// A name, without a copy unless it is written with escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<Sent<'de>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((Name(name), value)) = map.next_entry()? {
            members.push(Sent { name, value });
        }
        Ok(members)
    }
}
