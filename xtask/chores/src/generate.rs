//! What is generated: the published document from the code; from the document the client, its
//! mocks, its commands, its `ErrorCode`, the members of its bodies, and the lists of errors in
//! documents and recipes.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use plant_store_api::document::{document, document_text};
use progenitor::{GenerationSettings, Generator, InterfaceStyle};
use serde_json::{Value, json};
use similar::TextDiff;
use syn::visit_mut::{VisitMut, visit_expr_call_mut};
use syn::{
    AngleBracketedGenericArguments, Expr, ExprCall, GenericArgument, Path, PathArguments,
    TraitBound, Type, parse_quote,
};

use crate::errors::{Errors, LISTS, MARKERS, between};
use xtask::checkout::{DOCUMENT, root};

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

/// The markers around the members of the bodies.
const BODIES: [&str; 2] = ["bodies: generated from the contract", "end of bodies"];

/// The markers around the paths of the operations.
const PATHS: [&str; 2] = ["paths: generated from the contract", "end of paths"];

/// A file that is generated and checked in.
pub struct Generated {
    /// Relative to the root of the repository.
    pub path: &'static str,
    /// What it has to hold.
    pub text: String,
}

impl Generated {
    /// A unified diff, if the checked-in text differs.
    #[must_use]
    pub fn drift(&self, checked_in: &str) -> Option<String> {
        let Self { path, text } = self;
        (checked_in != text).then(|| {
            TextDiff::from_lines(checked_in, text.as_str())
                .unified_diff()
                .header(&format!("{path} (checked in)"), &format!("{path} (generated)"))
                .to_string()
        })
    }
}

/// Writes the files. The drift check only reads them: it fails with a unified diff if one is not
/// what would be written.
pub fn run(check: bool) -> Result<()> {
    let mut drifted = Vec::new();
    for file in generated()? {
        let path = root().join(file.path);
        if !check {
            fs::write(path, &file.text).with_context(|| format!("cannot write {}", file.path))?;
            println!("wrote {}", file.path);
        // A missing file differs in every line, so it counts as an empty one.
        } else if let Some(diff) = file.drift(&fs::read_to_string(path).unwrap_or_default()) {
            print!("{diff}");
            drifted.push(file.path);
        }
    }
    ensure!(
        drifted.is_empty(),
        "{} differ from the code's: run `cargo xtask generate`",
        drifted.join(" and ")
    );
    Ok(())
}

/// The files, as the code has them now.
pub fn generated() -> Result<Vec<Generated>> {
    let openapi = document();
    let mut settings = GenerationSettings::new();
    settings.with_interface(InterfaceStyle::Builder).with_derive("PartialEq");
    let generator = || Generator::new(&settings);
    let generated = [
        ("client/src/generated.rs", generator().generate_tokens(&openapi)),
        ("client/src/mock.rs", generator().httpmock(&openapi, "crate")),
        // The generated commands import the client, and what else they need, from
        // `crate::cli::contract`.
        ("client/src/cli/generated.rs", generator().cli(&openapi, "crate::cli::contract")),
    ];
    let mut files = vec![published()];
    for (path, tokens) in generated {
        let tokens = tokens.with_context(|| format!("progenitor cannot make {path}"))?;
        let mut file = syn::parse2(tokens).context("progenitor wrote no Rust")?;
        OptionalSetters.visit_file_mut(&mut file);
        BodiesOfCommands.visit_file_mut(&mut file);
        files.push(Generated { path, text: format!("{HEADER}{}", prettyplease::unparse(&file)) });
    }
    let document = serde_json::to_value(openapi)?;
    let errors = Errors::of(&document)?;
    for list in LISTS {
        files.push(between_markers(list.path, MARKERS, &errors.lines(&list.template))?);
    }
    files.push(between_markers("client/src/cli/members.rs", BODIES, &bodies(&document)?)?);
    files.push(between_markers("client/src/cli/paths.rs", PATHS, &paths(&document)?)?);
    Ok(files)
}

/// A checked-in file with these lines between its markers.
fn between_markers(path: &'static str, markers: [&str; 2], lines: &str) -> Result<Generated> {
    let text = fs::read_to_string(root().join(path)).with_context(|| format!("no {path}"))?;
    Ok(Generated { path, text: between(markers, path, &text, lines)? })
}

/// A constant for the path of each operation.
fn paths(document: &Value) -> Result<String> {
    let constant = |operation: Operation| {
        let name = operation.value["operationId"].as_str()?.to_ascii_uppercase();
        Some(format!("pub const {name}: &str = {:?};\n", operation.path))
    };
    Ok(operations(document)?.filter_map(constant).collect())
}

/// An operation of the document.
struct Operation<'a> {
    path: &'a str,
    value: &'a Value,
}

fn operations(document: &Value) -> Result<impl Iterator<Item = Operation<'_>>> {
    let paths = document["paths"].as_object().context("the document has no paths")?;
    Ok(paths.iter().flat_map(|(path, methods)| {
        let values = methods.as_object().into_iter().flat_map(|methods| methods.values());
        values.map(move |value| Operation { path, value })
    }))
}

/// The members of each schema that is the body of an operation.
fn bodies(document: &Value) -> Result<String> {
    let schemas = operations(document)?.filter_map(|operation| {
        let body = operation.value.pointer("/requestBody/content/application~1json/schema")?;
        body["$ref"].as_str()
    });
    let names = schemas.filter_map(|reference| reference.rsplit('/').next());
    names.collect::<BTreeSet<_>>().into_iter().map(|name| body(document, name)).collect()
}

/// The members of a schema.
fn body(document: &Value, name: &str) -> Result<String> {
    let schema = &document["components"]["schemas"][name];
    let members = schema["properties"].as_object();
    let members = members.with_context(|| format!("{name} is not an object"))?;
    let is_required = |member: &String| {
        schema["required"].as_array().is_some_and(|required| required.contains(&json!(member)))
    };
    let row = |(member, schema): (&String, &Value)| {
        let kind = kind(schema);
        let is_required = is_required(member);
        format!(
            "        Member {{ name: {member:?}, kind: Kind::{kind}, \
             is_required: {is_required} }},\n"
        )
    };
    let rows: String = members.iter().map(row).collect();
    Ok(format!(
        "impl Body for types::{name} {{\n    const NAME: &'static str = {name:?};\n    \
         const MEMBERS: &'static [Member] = &[\n{rows}    ];\n}}\n"
    ))
}

/// What a member holds, as `Kind` of the client calls it.
fn kind(schema: &Value) -> &'static str {
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), None) if schema["enum"].is_null() && schema["pattern"].is_null() => "Text",
        (Some("string"), _) => "RestrictedText",
        (Some("integer"), Some("int32")) => "Integer32",
        (Some("integer"), Some("int64")) => "Integer64",
        (Some("boolean"), _) => "Boolean",
        _ => "Other",
    }
}

/// The published document, as the code has it now.
#[must_use]
pub fn published() -> Generated {
    Generated { path: DOCUMENT, text: document_text() }
}

/// Has the setter of an optional member take what that of a required one takes, such as a `&str`:
/// `IntoOptional<T>` instead of `TryInto<Option<T>>`.
struct OptionalSetters;

impl VisitMut for OptionalSetters {
    fn visit_trait_bound_mut(&mut self, bound: &mut TraitBound) {
        if let Some(value) = argument_of(&bound.path, "TryInto")
            && let Some(GenericArgument::Type(Type::Path(option))) = value.args.first()
            && let Some(value) = argument_of(&option.path, "Option")
        {
            bound.path = parse_quote!(crate::IntoOptional #value);
        }
    }
}

/// Has the commands read the file of `--json-body` with the client's own functions. They take
/// standard input, too, and refuse a member that the document does not have.
struct BodiesOfCommands;

impl VisitMut for BodiesOfCommands {
    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        visit_expr_call_mut(self, call);
        let Expr::Path(function) = &mut *call.func else { return };
        if let Some(body) = argument_of(&function.path, "from_str") {
            function.path = parse_quote!(crate::cli::body::parse #body);
            call.args.push(parse_quote!(matches));
        } else if last_is(&function.path, "read_to_string") {
            function.path = parse_quote!(crate::cli::body::read);
        }
    }
}

fn last_is(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

/// The arguments of a path that ends with this name.
fn argument_of<'a>(path: &'a Path, name: &str) -> Option<&'a AngleBracketedGenericArguments> {
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    Some(arguments)
}
