//! Says which commit is built, if the sources are a checkout of the repository:
//! `PLANT_STORE_COMMIT` (empty if not) and `PLANT_STORE_VERSION`, with which the commit is in
//! brackets. A commit with changes ends in `-dirty`, as in git-describe(1).

use std::env;
use std::path::Path;
use std::process::Command;

/// What the binary is built from. Cargo runs this program again if one of them has changed, as it
/// compiles the binary again.
const SOURCES: [&str; 7] =
    ["Cargo.toml", "api", "build.rs", "src", "store", "../Cargo.lock", "../Cargo.toml"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    // A package that lies somewhere in another repository has not the commit of that one.
    let is_checkout = Path::new("../.git").exists();
    let commit = if is_checkout { commit() } else { None };
    let version = match &commit {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=PLANT_STORE_VERSION={version}");
    println!("cargo::rustc-env=PLANT_STORE_COMMIT={}", commit.unwrap_or_default());
}

/// The commit of the checkout.
fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file]);
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let status = ["--no-optional-locks", "status", "--porcelain", "--"];
    let changes = git(&[&status[..], &SOURCES].concat())?;
    Some(if changes.is_empty() { commit } else { commit + "-dirty" })
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|it| it.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
