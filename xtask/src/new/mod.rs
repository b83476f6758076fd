//! `cargo xtask new`: copies this repository for another service with another resource.
//!
//! The copy consists of the tracked files, with new names in their paths and contents.
//! `xtask/compat` names no service and is copied unchanged. This folder, and whatever a file marks
//! with `not copied`, stays behind: figures that were measured on this service, its changelogs, and
//! the calls of this module.

mod names;
mod reserved;
pub mod trial;

use std::fs;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, ensure};
use clap::Args;
use regex::Regex;
use xshell::{Shell, cmd};

use crate::checkout::shell;
use crate::new::names::Names;
use crate::run::quietly;

/// Files that name no service.
const UNCHANGED: &str = "xtask/compat/";

/// Files that stay behind.
const NOT_COPIED: &str = "xtask/src/new/";

/// A part of a file that stays behind, in Rust, Markdown or TOML.
const NOT_COPIED_PART: &str = r"(?msx)
    ^\ * (?: // | <!-- | \# ) \ not\ copied (?: \ --> )? \n
    .*?
    ^\ * (?: // | <!-- | \# ) \ end\ of\ not\ copied (?: \ --> )? \n";

/// The copy to make.
#[derive(Args)]
pub struct Copy {
    /// The folder to create
    folder: PathBuf,

    /// The name of the service, in lowercase words with hyphens, such as `seed-bank`
    #[arg(long, value_name = "NAME")]
    service: String,

    /// What the service stores: one lowercase word in the singular, such as `seed`
    #[arg(long, value_name = "WORD")]
    resource: String,

    /// The plural of the resource [default: the resource with an s]
    #[arg(long, value_name = "WORD")]
    plural: Option<String>,
}

/// Makes a copy of what is committed.
pub fn run(copy: &Copy) -> Result<()> {
    let sh = shell()?;
    let changes = quietly(cmd!(sh, "git status --porcelain"))?;
    ensure!(changes.is_empty(), "the checkout has changes; commit them first:\n{changes}");
    make(copy, &sh)
}

/// Copies the tracked files, generates the document and the client of the copy, and commits them.
fn make(copy: &Copy, sh: &Shell) -> Result<()> {
    let names = Names::new(&copy.service, &copy.resource, copy.plural.as_deref())?;
    ensure_unused(sh, &names)?;
    let tracked = quietly(cmd!(sh, "git ls-files -z"))?;

    // `cargo xtask` runs in the folder in which it is called.
    let folder = absolute(&copy.folder)?;
    fs::create_dir(&folder)
        .with_context(|| format!("cannot create the new folder {}", folder.display()))?;
    println!("copying to {}: the operation becomes POST /{}", folder.display(), names.plural);
    for path in tracked.split_terminator('\0').filter(|path| !path.starts_with(NOT_COPIED)) {
        copy_file(&sh.current_dir(), path, &folder, &names)
            .with_context(|| format!("cannot copy {path}"))?;
    }

    let _in_the_copy = sh.push_dir(&folder);
    quietly(cmd!(sh, "cargo fmt --all"))?;
    cmd!(sh, "cargo xtask generate").run()?;
    quietly(cmd!(sh, "git init --initial-branch main"))?;
    quietly(cmd!(sh, "git add --all"))?;
    quietly(cmd!(sh, "git commit --message").arg(names.commit_message()))?;
    println!("{}", names.next_steps(&copy.folder));
    Ok(())
}

/// Fails if the code already defines something with a name of the copy.
fn ensure_unused(sh: &Shell, names: &Names) -> Result<()> {
    let found = grep(sh, &names.definition(), "*.rs")?;
    ensure!(found.is_empty(), "choose another word, because the code has this name:\n{found}");
    Ok(())
}

/// Returns the lines of tracked files that match an extended regular expression in any case.
fn grep(sh: &Shell, pattern: &str, files: &str) -> Result<String> {
    let unchanged = format!(":!{UNCHANGED}");
    let grep = cmd!(
        sh,
        "git grep --line-number --ignore-case --extended-regexp {pattern} -- {files} {unchanged}"
    );
    let output = grep.ignore_status().quiet().output()?;
    // 1 means that no line matches.
    ensure!(matches!(output.status.code(), Some(0 | 1)), "git grep failed");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Copies a file with its permissions.
fn copy_file(root: &Path, path: &str, folder: &Path, names: &Names) -> Result<()> {
    if path.starts_with(UNCHANGED) {
        return copy_unchanged(&root.join(path), &folder.join(path));
    }
    let to = folder.join(names.rename(path));
    copy_unchanged(&root.join(path), &to)?;
    if let Ok(text) = fs::read_to_string(&to) {
        let not_copied = Regex::new(NOT_COPIED_PART).expect("the pattern is valid");
        fs::write(&to, names.rename(&not_copied.replace_all(&text, "")))?;
    }
    Ok(())
}

fn copy_unchanged(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().context("the file is in no folder")?)?;
    fs::copy(from, to)?;
    Ok(())
}
