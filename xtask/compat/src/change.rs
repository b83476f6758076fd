//! How a person is told about a change: its class, its place, the older value and the newer one.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::class::Class;
use crate::difference::Difference;
use crate::json::Position;
use crate::kind::Kind;
use crate::place::Place;
use crate::rules::Rule;

/// One change.
#[derive(Serialize)]
pub struct Change {
    /// Its place in the documents.
    pub place: Place,
    /// What it means to a consumer.
    pub class: Class,
    /// The id of the rule that says so.
    pub rule: &'static str,
    /// Why. A document may have many changes for the same reason.
    pub reason: std::borrow::Cow<'static, str>,
    /// Whether it was added, changed or removed.
    pub kind: Kind,
    /// The older value; none if it was added.
    pub old: Option<Value>,
    /// The newer value; none if it was removed.
    pub new: Option<Value>,
    /// When and why it was accepted.
    pub accepted: Option<String>,
    /// The older and the newer value as one text, [`printable`]. No other values give the same
    /// text: a file that accepts it accepts no other change.
    pub change: String,
    /// Where it is in the document that [`locate`](crate::locate) was given; none before that.
    #[serde(flatten)]
    pub position: Option<Position>,
}

impl Change {
    /// `composition` is the place of a list of variants that uses it.
    pub(crate) fn new(difference: Difference<'_>, rule: &Rule, composition: Option<&str>) -> Self {
        let kind = difference.kind();
        let Difference { place, old, new, .. } = difference;
        let Rule { class, id, .. } = *rule;
        let reason = match composition.filter(|_| class >= Class::Source) {
            Some(composition) => {
                format!("{}; {composition} uses it in a composition", rule.reason).into()
            }
            None => rule.reason.into(),
        };
        let change = printable(&match [old, new].map(|value| value.map(told)) {
            [Some(old), Some(new)] => format!("{old} → {new}"),
            [old, new] => format!("{kind}: {}", old.or(new).unwrap_or_default()),
        });
        Self {
            place,
            class,
            rule: id,
            reason,
            kind,
            old: old.cloned(),
            new: new.cloned(),
            accepted: None,
            change,
            position: None,
        }
    }
}

/// One line, in which everything of the documents is [`printable`].
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, class, rule, reason, accepted, change, .. } = self;
        let (verdict, why) = match accepted {
            Some(why) => ("accepted".to_owned(), format!("{class}; {why}")),
            None => (class.to_string(), format!("{rule}: {reason}")),
        };
        write!(f, "{verdict:13}  {}", printable(&format!("{place}  {change}  ({why})")))
    }
}

/// A text of which a terminal shows each character and a runner of GitHub runs no command: control
/// characters, line breaks and invisible characters are escaped.
#[must_use]
pub fn printable(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|char| match char {
            '\'' | '"' | '\\' => char.to_string(),
            _ => char.escape_debug().to_string(),
        })
        .collect();
    // The runner looks for this old form of a command in the whole line, for `::` only at its
    // start.
    escaped.replace("##[", "##\\[")
}

/// A value as JSON; a string without quotation marks, if nothing else looks the same. Of a long
/// value the beginning, and a hash of the whole.
fn told(value: &Value) -> String {
    let text = match value {
        Value::String(text) if !text.is_empty() && serde_json::from_str::<Value>(text).is_err() => {
            text.clone()
        }
        _ => value.to_string(),
    };
    if text.chars().count() <= LONGEST {
        return text;
    }
    let beginning: String = text.chars().take(LONGEST / 2).collect();
    let hash =
        Sha256::digest(text).iter().take(6).fold(0, |hash, byte| hash << 8 | u64::from(*byte));
    format!("{beginning}… ({hash:012x})")
}

/// The longest value that is shown whole, in characters.
const LONGEST: usize = 60;
