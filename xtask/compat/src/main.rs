//! `plant-store-compat`: tells a consumer what changed between the document from which its client was
//! made and another one, and whether that breaks the client.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use plant_store_compat::{Class, Document, Report, compare};

/// The document of this revision.
const PUBLISHED: &str = include_str!("../../../openapi/plant-store.json");

const NOTHING: &str = "nothing changed";
const HARMLESS: &str = "nothing that changed breaks a client";
const BREAKING: &str = "what changed breaks a client: see the lines that begin with `breaking`";

/// Say what changed in the OpenAPI document of the plant store, and whether it breaks a client
///
/// The exit status is 0 if no change breaks a client, 1 if one does, and 2 if the documents cannot be
/// read or compared.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// The document from which the client was made; `-` is standard input
    pinned: PathBuf,
    /// The document to compare with [default: the one of this version of the command]
    published: Option<PathBuf>,
}

fn main() -> ExitCode {
    match report(&Args::parse()) {
        Ok(report) => ExitCode::from(conclude(&report)),
        Err(error) => {
            eprintln!("plant-store-compat: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn report(args: &Args) -> Result<Report> {
    let pinned = read(&args.pinned)?;
    let published = match &args.published {
        Some(path) => read(path)?,
        None => Document::parse("this version of plant-store-compat", PUBLISHED)?,
    };
    let [new, old] = [&published, &pinned].map(|document| (&document.version, &document.name));
    println!("{} of {}, since {} of {}:", new.0, new.1, old.0, old.1);
    Ok(compare(&pinned, &published))
}

fn read(path: &Path) -> Result<Document> {
    let (name, text) = if path == Path::new("-") {
        ("standard input".to_owned(), io::read_to_string(io::stdin()))
    } else {
        (path.display().to_string(), fs::read_to_string(path))
    };
    Document::parse(&name, &text.with_context(|| format!("cannot read {name}"))?)
}

/// Prints the changes and what they mean, and returns the exit status.
fn conclude(report: &Report) -> u8 {
    for change in &report.changes {
        println!("{change}");
    }
    let (conclusion, status) = match report.class() {
        None => (NOTHING, 0),
        Some(Class::Breaking) => (BREAKING, 1),
        Some(Class::Words | Class::Additive) => (HARMLESS, 0),
    };
    println!("{conclusion}");
    status
}
