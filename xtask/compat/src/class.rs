//! What a change means, and the table of rules that says so.

use std::sync::LazyLock;

use clap::ValueEnum;
use serde::Serialize;
use strum::Display;

/// What a change means to a consumer, from the lightest to the heaviest.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Nothing but text for people changed: the version may stay.
    #[strum(to_string = "words only")]
    Words,
    /// What worked still works: a new minor version.
    #[strum(to_string = "additive")]
    Additive,
    /// Code that is compiled against a client generated anew may break: a new major version.
    #[strum(to_string = "breaks source")]
    Source,
    /// A client that runs may break: a new major version.
    #[strum(to_string = "breaks wire")]
    Wire,
}

impl Class {
    /// Its name on the command line.
    pub(crate) fn argument(self) -> String {
        let value = self.to_possible_value().expect("each class can be named");
        value.get_name().to_owned()
    }
}

/// A row of the table.
pub struct Rule {
    pub id: &'static str,
    pub class: Class,
    /// Which kinds of changes it is for; none for all.
    pub kinds: Vec<&'static str>,
    /// Patterns of places, each with its steps.
    pub places: Vec<Vec<&'static str>>,
    pub conditions: Vec<&'static str>,
    pub reason: &'static str,
}

/// The rules in their order; the last one is for every change.
///
/// A difference that no other rule names breaks a client that runs. So a change that nobody has
/// thought of does not pass.
pub static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rows = include_str!("rules.md").lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| rule(row).expect(row)).collect()
});

fn rule(row: &'static str) -> Option<Rule> {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let &[_, id, class, kinds, places, conditions, reason, _] = &cells[..] else { return None };
    let places = places.split(' ').map(|place| place.trim_matches('`').split('/').collect());
    Some(Rule {
        id: id.trim_matches('`'),
        class: Class::from_str(class, false).ok()?,
        kinds: kinds.split(' ').filter(|kind| *kind != "any").collect(),
        places: places.collect(),
        conditions: conditions.split_whitespace().collect(),
        reason,
    })
}
