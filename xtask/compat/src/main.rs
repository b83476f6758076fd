//! `openapi-compat` compares the document from which a client was generated with a newer one, and
//! prints which changes break the client.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use openapi_compat::output::{Check, Format, for_github};
use openapi_compat::{Class, Document, compare, printable};

/// The size limit of a document, in bytes. The largest document of a well-known service has 12 MB.
const LARGEST: u64 = 16 << 20;

/// Show what changed between two OpenAPI documents, and whom it breaks
///
/// The documents are OpenAPI 3.0 in JSON or YAML. The exit code is 0 if the check passes, 1 if it
/// fails, and 2 if a document cannot be read or the result cannot be printed.
#[derive(Parser)]
#[command(name = "openapi-compat", version)]
struct Args {
    /// The document from which the client was generated; `-` is stdin
    pinned: PathBuf,
    /// The newer document; `-` is stdin
    published: PathBuf,
    /// The least severe class that makes the exit code 1. `source` breaks code that is compiled
    /// against a regenerated client, `wire` breaks a running client
    #[arg(long, value_name = "CLASS", default_value = "source")]
    fail_on: Class,
    /// Exit with code 1 if the newer `info.version` is too small for the changes by Semantic
    /// Versioning, whatever their class
    #[arg(long, conflicts_with = "fail_on")]
    semver: bool,
    /// A file of accepted changes: lines of the output, each with a reason behind `#`
    #[arg(long, value_name = "FILE")]
    accepted: Option<PathBuf>,
    /// The output format
    #[arg(long, default_value = "text")]
    format: Format,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(fails) => ExitCode::from(u8::from(fails)),
        Err(error) => {
            let line = printable(&format!("{error:#}"));
            // If stderr is full or closed as well, the exit code says enough.
            let _ = writeln!(io::stderr(), "openapi-compat: {line}");
            if args.format == Format::Github {
                let _ = writeln!(io::stdout(), "{}", for_github(true, "", &line));
            }
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<bool> {
    let mut report = compare(read(&args.pinned)?, read(&args.published)?);
    if let Some(path) = &args.accepted {
        report.accept(path)?;
    }
    let check = if args.semver { Check::Semver } else { Check::FailOn(args.fail_on) };
    // GitHub has no file for stdin.
    let annotated = (args.pinned != Path::new("-")).then_some(&*args.pinned);
    report.print(check, args.format, annotated)
}

fn read(path: &Path) -> Result<Document> {
    let (name, bytes) = if path == Path::new("-") {
        ("stdin".to_owned(), bytes(io::stdin()))
    } else {
        (path.display().to_string(), File::open(path).and_then(bytes))
    };
    let bytes = bytes.with_context(|| format!("cannot read {name}"))?;
    ensure!(bytes.len() as u64 <= LARGEST, "{name} is larger than {LARGEST} bytes");
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8 text"))?;
    ensure!(!text.trim().is_empty(), "{name} is empty");
    Document::parse(&name, &text)
}

/// Reads at most one byte more than the limit.
fn bytes(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
