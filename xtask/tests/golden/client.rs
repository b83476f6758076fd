//! Generates the client from the document, with progenitor.

use anyhow::{Context, Result};
use openapiv3::OpenAPI;
use progenitor::{GenerationSettings, Generator, HooksMode, InterfaceStyle};

use crate::Generated;

const HEADER: &str = "\
// Generated from the OpenAPI document: `cargo xtask generate` writes this file.

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

/// What progenitor generates from a document.
#[derive(Clone, Copy)]
pub enum Part {
    /// The client itself.
    Client,
    /// Its mocks.
    Mock,
    /// Its commands, which import everything that they need from `crate::cli::contract`.
    Commands,
}

/// Generates a part of a client, as progenitor makes it.
pub fn generate(part: Part, document: &OpenAPI, path: &'static str) -> Result<Generated> {
    let mut settings = GenerationSettings::new();
    settings
        .with_interface(InterfaceStyle::Builder)
        .with_derive("PartialEq")
        // The clients of all services share the type of a refusal, and how a request is sent.
        .with_replacement("Error", "::groundwork_client::Refusal", [].into_iter())
        .with_inner_type("::groundwork_client::SendPolicy".parse().expect("a path is Rust"))
        .with_hooks(HooksMode::Expected);
    let mut generator = Generator::new(&settings);
    let tokens = match part {
        Part::Client => generator.generate_tokens(document),
        Part::Mock => generator.httpmock(document, "crate"),
        Part::Commands => generator.cli(document, "crate::cli::contract"),
    };
    let tokens = tokens.with_context(|| format!("progenitor cannot generate {path}"))?;
    let file = syn::parse2(tokens).context("progenitor did not write valid Rust")?;
    Ok(Generated { path, text: format!("{HEADER}{}", prettyplease::unparse(&file)) })
}
