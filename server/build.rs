//! Says which commit is built, if the sources are a checkout of the repository:
//! `PLANT_STORE_COMMIT` (empty if not) and `PLANT_STORE_VERSION`, with which the commit is in
//! brackets.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    // A package that lies somewhere in another repository has not the commit of that one.
    let commit = if Path::new("../.git").exists() {
        git(&["rev-parse", "--short=12", "HEAD"])
    } else {
        None
    };
    for file in ["HEAD", "logs/HEAD"] {
        let path = commit.as_ref().and_then(|_| git(&["rev-parse", "--git-path", file]));
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let version = commit.as_ref().map_or(version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=PLANT_STORE_VERSION={version}");
    println!("cargo::rustc-env=PLANT_STORE_COMMIT={}", commit.unwrap_or_default());
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|it| it.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
