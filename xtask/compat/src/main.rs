//! `plant-store-compat`: tells a consumer what changed between the document from which its client was
//! made and another one, and whether that breaks the client.

mod output;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use plant_store_compat::{Accepted, Args, Document, compare, printable};

use output::{Comparison, for_github};

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
            if args.github {
                println!("{}", for_github("", &line));
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
    let mut report = compare(&pinned, &published);
    if let Some(path) = &args.accepted {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        report.accept(&Accepted::parse(&name, &text)?);
    }
    let comparison = Comparison { pinned: &pinned, text: &text, published: &published, report };
    if args.json {
        println!("{}", comparison.json());
    } else {
        println!("{comparison}");
    }
    if args.github {
        comparison.annotations(&args.pinned).iter().for_each(|line| println!("{line}"));
    }
    Ok(comparison.conclusion().1)
}

/// A document and its text.
fn read(path: &Path) -> Result<(Document, String)> {
    let (name, input): (_, Result<Box<dyn Read>, _>) = if path == Path::new("-") {
        ("standard input".to_owned(), Ok(Box::new(io::stdin())))
    } else {
        (path.display().to_string(), File::open(path).map(|file| Box::new(file) as _))
    };
    let mut text = String::new();
    let bytes = input
        .and_then(|input| input.take(LARGEST + 1).read_to_string(&mut text))
        .with_context(|| format!("cannot read {name}"))?;
    ensure!(bytes as u64 <= LARGEST, "{name} has more than {LARGEST} bytes");
    ensure!(!text.trim().is_empty(), "{name} is empty");
    Ok((Document::parse(&name, &text)?, text))
}
