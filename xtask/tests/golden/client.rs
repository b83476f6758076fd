//! Generates the client from the document, with progenitor.

use anyhow::{Context, Result};
use openapiv3::OpenAPI;
use progenitor::{GenerationSettings, Generator, HooksMode, InterfaceStyle};

use crate::Generated;

const HEADER: &str = "\
// Generated from openapi/plant-store.json: `cargo xtask generate` writes this file.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    unused_imports,
    unused_variables,
    reason = \"generated: the generator decides how it reads\"
)]

";

/// Replacements in the generated commands, so that client/src/cli/body.rs reads and parses a body
/// as strictly as the service. If a new progenitor generates different code, a test of
/// `--json-body` fails.
const REPLACEMENTS: [(&str, &str); 2] = [
    ("std::fs::read_to_string(value)", "crate::cli::body::read(value, matches).await"),
    ("serde_json::from_str::<", "crate::cli::body::parse::<"),
];

/// Generates the client, its mocks and its commands.
pub fn client(document: &OpenAPI) -> Result<Vec<Generated>> {
    let mut settings = GenerationSettings::new();
    settings
        .with_interface(InterfaceStyle::Builder)
        .with_derive("PartialEq")
        // client/src/hooks.rs decides how a request is sent.
        .with_inner_type("crate::SendPolicy".parse().expect("a path is Rust"))
        .with_hooks(HooksMode::Expected);
    let generator = || Generator::new(&settings);
    let generated = [
        ("client/src/generated.rs", generator().generate_tokens(document)),
        ("client/src/mock.rs", generator().httpmock(document, "crate")),
        // The generated commands import everything that they need from `crate::cli::contract`.
        ("client/src/cli/generated.rs", generator().cli(document, "crate::cli::contract")),
    ];
    let mut files = Vec::new();
    for (path, tokens) in generated {
        let tokens = tokens.with_context(|| format!("progenitor cannot generate {path}"))?;
        let file = syn::parse2(tokens).context("progenitor did not write valid Rust")?;
        let text = REPLACEMENTS
            .iter()
            .fold(prettyplease::unparse(&file), |text, (theirs, ours)| text.replace(theirs, ours));
        files.push(Generated { path, text: format!("{HEADER}{text}") });
    }
    Ok(files)
}
