//! The programs of a release.

/// A program, and how cargo selects it.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// The package that it is in.
    pub package: &'static str,
    /// The arguments of cargo that select the features that it needs.
    pub features: &'static [&'static str],
}

/// Every program of a release.
pub const PROGRAMS: [Program; 2] = [
    Program { name: "plant-store", package: "plant-store-server", features: &[] },
    Program { name: "plants", package: "plant-store-client", features: &["--features", "cli"] },
];
