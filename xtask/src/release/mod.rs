//! Builds the Debian package of a release. `server/Cargo.toml` describes the package, and cargo-deb
//! packs it. This module makes the files that cargo-deb does not make: the manual pages and
//! completions, which the programs print; the licences of all crates, which cargo-about collects;
//! and the changelog that Debian requires.
//!
//! A package runs on machines with the C library of the machine that built it, or a later one. So a
//! release must be built on the oldest Debian that it supports.

mod trial;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use xshell::{Shell, cmd};

use crate::cargo::ALL;
use crate::checkout::{root, shell, target};
use crate::run::quietly;

const PROGRAMS: [&str; 2] = ["plant-store", "plants"];

/// The arguments of the build.
#[derive(Args)]
pub struct Build {
    /// Cargo profile of the programs; `dev` packs the programs that the tests run
    #[arg(long, default_value = "dist")]
    profile: String,
}

/// Builds the package, and tests it.
pub fn run(Build { profile }: &Build) -> Result<()> {
    let sh = shell()?;
    let tools = root().join("target/release-tools");
    let machine = sh.var_os("PATH").unwrap_or_default();
    let path = [tools.join("bin")].into_iter().chain(std::env::split_paths(&machine));
    sh.set_var("PATH", std::env::join_paths(path)?);
    let install = |tool: &[&str]| {
        quietly(cmd!(sh, "cargo install --quiet --locked --root {tools} {tool...}")).map(drop)
    };
    install(&["cargo-about@0.9.3", "--features", "cli"])?;
    install(&["cargo-deb@3.8.0"])?;
    if profile == "dev" {
        cmd!(sh, "cargo build --quiet --bin plant-store --bin plants {ALL...}").quiet().run()?;
    } else {
        // Embeds the list of its crates into each program, for `cargo audit bin`.
        install(&["cargo-auditable@0.7.7"])?;
        let build = || cmd!(sh, "cargo auditable build --locked --profile {profile}");
        build().args(["--package", "plant-store-server"]).run()?;
        build().args(["--package", "plant-store-client", "--features", "cli"]).run()?;
    }
    let built = target()?.join(if profile == "dev" { "debug" } else { profile });
    describe(&sh, &built)?;
    let package = pack(&sh, profile, &built)?;
    trial::run(&package)?;
    println!("{}", package.display());
    Ok(())
}

/// Writes the manual pages, the completions, the licences and the changelog into the folder
/// `package`, beside the programs.
fn describe(sh: &Shell, built: &Path) -> Result<()> {
    let folder = built.join("package");
    let pages = folder.join("man");
    sh.remove_path(&folder)?;
    sh.create_dir(&pages)?;
    for program in PROGRAMS {
        let path = built.join(program);
        quietly(cmd!(sh, "{path} manuals {pages}"))?;
        for (shell, file) in [
            ("bash", format!("bash/{program}")),
            ("fish", format!("fish/{program}.fish")),
            ("zsh", format!("zsh/_{program}")),
        ] {
            let script = quietly(cmd!(sh, "{path} completions {shell}"))?;
            sh.write_file(folder.join(file), script)?;
        }
    }
    sh.write_file(folder.join("THIRD-PARTY-LICENSES"), licences(sh)?)?;
    let version = env!("CARGO_PKG_VERSION").replace('-', "~");
    let time = quietly(cmd!(sh, "git log --max-count 1 --format=%cD"))?;
    let changelog = format!(
        "plant-store ({version}) stable; urgency=medium\n\n  * See README.md for the changes.\n\n \
         -- Plant store maintainers <maintainers@plants.example.org>  {time}"
    );
    let path = folder.join("changelog");
    sh.write_file(&path, changelog)?;
    // Debian requires compressed manual pages and changelogs.
    let pages = sh.read_dir(&pages)?;
    quietly(cmd!(sh, "gzip --no-name --best {path} {pages...}"))?;
    Ok(())
}

/// Returns the licences of the crates that are linked into the programs. Most licences require that
/// their text accompanies a binary.
fn licences(sh: &Shell) -> Result<String> {
    let about = |package: &str| {
        cmd!(
            sh,
            "cargo about generate --locked --fail --manifest-path {package}/Cargo.toml
                --config .cargo/about.toml .cargo/about.hbs"
        )
    };
    let service = quietly(about("server"))?;
    let client = quietly(about("client").args(["--features", "cli"]))?;
    Ok(format!("plant-store\n\n{service}\nplants\n\n{client}"))
}

/// Packs the package, and returns its path. The packing is reproducible: all times in the package
/// are the time of the commit.
fn pack(sh: &Shell, profile: &str, built: &Path) -> Result<PathBuf> {
    let time = quietly(cmd!(sh, "git log --max-count 1 --format=%ct"))?;
    let packed = quietly(
        cmd!(
            sh,
            "cargo deb --quiet --locked --no-build --package plant-store-server
                --profile {profile} --output {built}/debian/"
        )
        .env("SOURCE_DATE_EPOCH", time.trim()),
    )?;
    packed
        .lines()
        .last()
        .map(PathBuf::from)
        .context("cargo-deb did not print the path of the package")
}
