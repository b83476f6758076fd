//! What a change means to a consumer.

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
    /// Code that is compiled against a client generated again may break: a new major version.
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
