//! The texts in other languages that the page shows as they are. `conformance` runs the same files.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use xtask::run::root;

/// A program in a file of its own. It takes the service from `PLANTS_URL` and `PLANTS_TOKEN`.
pub struct Example {
    /// Its name for people.
    pub title: &'static str,
    /// What highlighters call its language.
    pub language: &'static str,
    /// Relative to `tests/conformance`.
    pub file: &'static str,
}

/// The same request in each language.
pub const REQUESTS: [Example; 4] = [
    Example { title: "curl", language: "bash", file: "requests/curl.sh" },
    Example { title: "Rust", language: "rust", file: "requests/rust.rs" },
    Example { title: "Python", language: "python", file: "requests/python.py" },
    Example { title: "TypeScript", language: "typescript", file: "requests/typescript.ts" },
];

/// Creates that are repeated if that may help.
pub const RECIPES: [Example; 3] = [
    Example {
        title: "TypeScript, with fetch",
        language: "typescript",
        file: "recipes/with_fetch.ts",
    },
    Example {
        title: "Python, with requests",
        language: "python",
        file: "recipes/with_requests.py",
    },
    Example { title: "Python, with httpx", language: "python", file: "recipes/with_httpx.py" },
];

/// What a number of JavaScript does to an id, and the types that prevent it. The client of
/// openapi-typescript is tried with them.
pub const INT64: [Example; 2] = [
    Example {
        title: "difference",
        language: "javascript",
        file: "clients/openapi-typescript/difference.mjs",
    },
    Example {
        title: "types",
        language: "javascript",
        file: "clients/openapi-typescript/types.mjs",
    },
];

impl Example {
    /// It as a block of Markdown.
    pub fn block(&self) -> Result<String> {
        Ok(format!("```{}\n{}```\n", self.language, self.text()?))
    }

    /// Its text.
    pub fn text(&self) -> Result<String> {
        let path = PathBuf::from("tests/conformance").join(self.file);
        fs::read_to_string(root().join(&path))
            .with_context(|| format!("cannot read {}", path.display()))
    }
}
