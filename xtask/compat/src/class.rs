//! What a change means to a consumer.

use clap::ValueEnum;
use serde::Serialize;
use strum::Display;

/// What a change means to a consumer, the least severe class first.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Only text for people changed: the version may stay the same.
    #[strum(to_string = "words only")]
    Words,
    /// Everything that worked still works: a new minor version.
    #[strum(to_string = "additive")]
    Additive,
    /// Code that is compiled against a regenerated client may break: a new major version.
    #[strum(to_string = "breaks source")]
    Source,
    /// A running client may break: a new major version.
    #[strum(to_string = "breaks wire")]
    Wire,
}

impl Class {
    /// Its name on the command line.
    pub(crate) fn argument(self) -> String {
        let value = self.to_possible_value().expect("each class is a value of the flag");
        value.get_name().to_owned()
    }
}
