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

/// Generates the client, its mocks and its commands, as progenitor makes them.
pub fn client(document: &OpenAPI) -> Result<Vec<Generated>> {
    let mut settings = GenerationSettings::new();
    settings
        .with_interface(InterfaceStyle::Builder)
        .with_derive("PartialEq")
        // The clients of all services share the type of a refusal, and how a request is sent.
        .with_replacement("Error", "::groundwork_client::Refusal", [].into_iter())
        .with_inner_type("::groundwork_client::SendPolicy".parse().expect("a path is Rust"))
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
        files.push(Generated { path, text: format!("{HEADER}{}", prettyplease::unparse(&file)) });
    }
    Ok(files)
}
