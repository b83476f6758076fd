//! The table of `rules.md`, parsed.

use std::sync::LazyLock;

use clap::ValueEnum;

use crate::class::Class;
use crate::condition::Condition;
use crate::kind::Kind;

/// A row of the table.
pub struct Rule {
    pub id: &'static str,
    pub class: Class,
    /// Which kinds of changes it is for; none for all.
    pub kinds: Vec<Kind>,
    /// Patterns of places, each with its steps.
    pub places: Vec<Vec<&'static str>>,
    /// All of them must be met.
    pub demands: Vec<Demand>,
    pub reason: &'static str,
}

/// A condition that must hold, or with `!` one that must not.
pub struct Demand {
    pub condition: Condition,
    pub must_hold: bool,
}

/// The rules in their order; the last one is for every change.
///
/// A difference that no other rule names breaks a client that runs. So a change that nobody has
/// thought of does not pass.
pub static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rows = include_str!("rules.md").lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| rule(row).expect(row)).collect()
});

/// The rule of a row; none if a word of it is unknown.
fn rule(row: &'static str) -> Option<Rule> {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let &[_, id, class, kinds, places, demands, reason, _] = &cells[..] else { return None };
    let kinds = kinds.split(' ').filter(|kind| *kind != "any");
    let places = places.split(' ').map(|place| place.trim_matches('`').split('/').collect());
    Some(Rule {
        id: id.trim_matches('`'),
        class: Class::from_str(class, false).ok()?,
        kinds: kinds.map(|kind| kind.parse().ok()).collect::<Option<_>>()?,
        places: places.collect(),
        demands: demands.split_whitespace().map(demand).collect::<Option<_>>()?,
        reason,
    })
}

fn demand(text: &str) -> Option<Demand> {
    let negated = text.strip_prefix('!');
    let condition = negated.unwrap_or(text).parse().ok()?;
    Some(Demand { condition, must_hold: negated.is_none() })
}
