//! The archive of a release, for one target: the programs, statically linked with musl, their
//! manual pages and completions, what an operator installs or reads, the licence, and the licences
//! of all that is linked. The SHA-256 is in a file of its own. Zig compiles the C code of SQLite
//! and aws-lc, and links the programs, so that every machine can build every target.
//!
//! It is no Debian package: the programs need no other package, and cargo-deb would add a tool and
//! a list of the same files for one family of systems.

mod licences;
mod programs;

use std::path::Path;

use anyhow::{Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::cargo::ALL;
use crate::checkout::{DOCUMENT, root, shell, target as target_folder};
use crate::release::programs::{PROGRAMS, Program};
use crate::run::quietly;

/// The targets that a release is built for.
const TARGETS: [&str; 2] = ["aarch64-unknown-linux-musl", "x86_64-unknown-linux-musl"];

/// It has cargo write into each program which crates are in it: `cargo audit bin` reads that list.
const AUDITABLE: &str = "cargo-auditable@0.7.7";

/// The units, the timer, nginx.conf, the alerts and the pages, as git finds them. In the archive
/// they have the same paths, so that what a page says is true there, too.
const OPERATORS: [&str; 4] =
    [":(glob)server/*.md", ":(glob)server/*.yaml", "server/dashboard.json", "server/deploy"];

/// Where the archives are, relative to the root.
const FOLDER: &str = "target/dist";

/// What a release is built for.
#[derive(Args)]
pub struct Target {
    #[arg(value_parser = TARGETS)]
    target: String,
}

/// Builds the archive.
pub fn run(Target { target }: &Target) -> Result<()> {
    let sh = shell()?;
    install(&sh, target)?;
    let name = format!("plant-store-{}-{target}", env!("CARGO_PKG_VERSION"));
    let temporary = sh.create_temp_dir()?;
    let folder = temporary.path().join(&name);
    sh.create_dir(&folder)?;
    for Program { name: program, package, features } in PROGRAMS {
        cmd!(
            sh,
            "cargo auditable zigbuild --release --locked --target {target} --package {package}
                --bin {program} {features...}"
        )
        .run()?;
        let built = target_folder()?.join(target).join("release").join(program);
        // A program that asks for a dynamic linker says so in a header; the list of its parts is a
        // section.
        let headers = quietly(cmd!(sh, "readelf --segments --sections --wide {built}"))?;
        ensure!(!headers.contains("INTERP"), "{program} is not statically linked");
        ensure!(headers.contains(".dep-v0"), "{program} does not list its parts");
        sh.copy_file(built, &folder)?;
    }
    describe(&sh, &folder)?;
    copy_pages(&sh, &folder)?;
    sh.copy_file("server/LICENSE", &folder)?;
    sh.write_file(folder.join("THIRD-PARTY-LICENSES"), licences::text(&sh, target)?)?;
    try_out(&sh, &folder, target)?;
    pack(&sh, temporary.path(), &name)
}

/// Fetches what is not there yet: the tools, and Rust's library for the target.
fn install(sh: &Shell, target: &str) -> Result<()> {
    let tools = root().join("target/release-tools");
    let bin = tools.join("bin");
    let pip = bin.join("pip");
    quietly(cmd!(sh, "python3 -m venv {tools}"))?;
    quietly(cmd!(sh, "{pip} install --no-deps --requirement xtask/src/release/requirements.txt"))?;
    let machine = sh.var_os("PATH").unwrap_or_default();
    let path = std::iter::once(bin).chain(std::env::split_paths(&machine));
    sh.set_var("PATH", std::env::join_paths(path)?);
    quietly(cmd!(sh, "cargo install --locked --root {tools} {AUDITABLE}"))?;
    quietly(cmd!(sh, "rustup target add {target}"))?;
    Ok(())
}

/// The manual pages and the completions.
fn describe(sh: &Shell, folder: &Path) -> Result<()> {
    cmd!(sh, "cargo build --example manuals {ALL...}").run()?;
    let manuals = target_folder()?.join("debug/examples/manuals");
    quietly(cmd!(sh, "{manuals} {folder}"))?;
    Ok(())
}

/// What an operator installs or reads.
fn copy_pages(sh: &Shell, folder: &Path) -> Result<()> {
    let files = quietly(cmd!(sh, "git ls-files -- {OPERATORS...}"))?;
    let files = files.lines();
    quietly(cmd!(sh, "cp --parents {files...} {folder}"))?;
    Ok(())
}

/// If this machine runs programs for the target, they must answer.
fn try_out(sh: &Shell, folder: &Path, target: &str) -> Result<()> {
    if !target.starts_with(std::env::consts::ARCH) {
        println!("{target}: not tried, because this machine does not run it");
        return Ok(());
    }
    let service = folder.join("plant-store");
    let client = folder.join("plants");
    let served = quietly(cmd!(sh, "{service} openapi"))?;
    ensure!(served == sh.read_file(DOCUMENT)?, "the program serves another document");
    quietly(cmd!(sh, "{client} --version"))?;
    Ok(())
}

/// The same commit and the same programs make the same archive: the times in it are that of the
/// commit.
fn pack(sh: &Shell, folder: &Path, name: &str) -> Result<()> {
    let seconds = quietly(cmd!(sh, "git log --max-count 1 --format=%ct"))?;
    let time = format!("@{}", seconds.trim());
    let archive = format!("{name}.tar.gz");
    sh.create_dir(FOLDER)?;
    let into = sh.push_dir(FOLDER);
    quietly(cmd!(
        sh,
        "tar --create --file {archive} --use-compress-program 'gzip --no-name --best' --sort name
            --mtime {time} --mode u=rwX,go=rX --owner 0 --group 0 --numeric-owner
            --directory {folder} {name}"
    ))?;
    let sum = quietly(cmd!(sh, "sha256sum {archive}"))?;
    sh.write_file(format!("{archive}.sha256"), &sum)?;
    drop(into);
    println!("{FOLDER}/{archive}\n{}", sum.trim_end());
    Ok(())
}
