//! `plant-store-compat`: tells a consumer what changed between the document from which its client
//! was made and another one, and whether that breaks the client.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use plant_store_compat::output::{Level, for_github};
use plant_store_compat::{Args, Document, Format, compare, locate, printable};

/// The document of this revision.
const PUBLISHED: &str = include_str!("../../../openapi/plant-store.json");

/// In bytes. The documents are not trusted, and the largest that are known have about 12 MB.
const LARGEST: u64 = 16 << 20;

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            let line = printable(&format!("{error:#}"));
            eprintln!("plant-store-compat: {line}");
            if args.format == Format::Github {
                println!("{}", for_github(Level::Error, "", &line));
            }
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<u8> {
    let (pinned, text) = read(&args.pinned)?;
    let published = match &args.published {
        Some(path) => read(path)?.0,
        None => Document::parse("this version of plant-store-compat", PUBLISHED)?,
    };
    let mut report = compare(pinned, published);
    if let Some(path) = &args.accepted {
        report.accept(path)?;
    }
    if matches!(args.format, Format::Github | Format::Json) {
        locate(&mut report.changes, &report.old, &text);
    }
    println!("{}", report.render(args));
    Ok(report.status(args.fail_on))
}

/// A document and its text.
fn read(path: &Path) -> Result<(Document, String)> {
    let is_standard_input = path == Path::new("-");
    let name =
        if is_standard_input { "standard input".to_owned() } else { path.display().to_string() };
    let bytes =
        if is_standard_input { bytes(io::stdin()) } else { File::open(path).and_then(bytes) };
    let bytes = bytes.with_context(|| format!("cannot read {name}"))?;
    ensure!(bytes.len() as u64 <= LARGEST, "{name} has more than {LARGEST} bytes");
    let is_utf_16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    ensure!(!is_utf_16, "{name} is UTF-16: save it as UTF-8, without a byte order mark");
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is no text in UTF-8"))?;
    ensure!(!text.trim().is_empty(), "{name} is empty");
    Ok((Document::parse(&name, &text)?, text))
}

/// All that an input has, but hardly more than the largest document.
fn bytes(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
