//! Generates the client from the document, with progenitor.

use openapiv3::{OpenAPI, Operation};
use progenitor::{GenerationSettings, Generator, HooksMode, InterfaceStyle};

const HEADER: &str = "\
// Generated from the OpenAPI document. Edits of this file are lost.

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

/// Generates a part of a client as a file of Rust: what progenitor makes of the document, and for
/// [`Part::Client`] how the client sends requests, with `groundwork-client`.
///
/// # Panics
///
/// Panics if progenitor cannot generate a client from the document.
pub fn generate(part: Part, document: &OpenAPI) -> String {
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
    let tokens = tokens.expect("progenitor can generate a client from the document");
    let mut file: syn::File = syn::parse2(tokens).expect("progenitor writes valid Rust");
    if let Part::Client = part {
        let sending = syn::parse_file(&sending(document)).expect("this is valid Rust");
        file.items.extend(sending.items);
    }
    format!("{HEADER}{}", prettyplease::unparse(&file))
}

/// Returns the code that connects the generated client to `groundwork-client`, with the names of
/// the operations that the document marks with `x-idempotent`.
fn sending(document: &OpenAPI) -> String {
    let operations = document.operations().map(|(_, _, operation)| operation);
    let is_idempotent = |one: &&Operation| one.extensions.get("x-idempotent") == Some(&true.into());
    let ids = operations.filter(is_idempotent).filter_map(|one| one.operation_id.as_ref());
    let ids: Vec<_> = ids.collect();
    format!(
        "impl ::groundwork_client::GeneratedClient for Client {{
            const IDEMPOTENT: &'static [&'static str] = &{ids:?};

            fn new(
                base_url: &str,
                http: reqwest::Client,
                policy: ::groundwork_client::SendPolicy,
            ) -> Self {{
                Self::new_with_client(base_url, http, policy)
            }}

            fn policy(&mut self) -> &mut ::groundwork_client::SendPolicy {{
                &mut self.inner
            }}
        }}

        impl ClientHooks<::groundwork_client::SendPolicy> for Client {{
            async fn exec(
                &self,
                request: reqwest::Request,
                info: &OperationInfo,
            ) -> reqwest::Result<reqwest::Response> {{
                self.inner.send(&self.client, request, info).await
            }}
        }}"
    )
}
