//! Builds the Debian package of a release. `server/Cargo.toml` describes the package, and cargo-deb
//! packs it. This module makes the files that cargo-deb does not make: the manual pages and
//! completions; the licences of all crates, which cargo-about collects; and the changelog that
//! Debian requires. Then lintian checks the package, and dpkg installs it into a temporary folder.
//!
//! A package runs on machines with the C library of the machine that built it, or a later one. So a
//! release must be built on the oldest Debian that it supports.
//!
//! This must not require root, and must not touch the packages of the machine.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::checkout::{DOCUMENT, build, quietly, root, shell, target};

/// The arguments of the build.
#[derive(Args)]
pub struct Build {
    /// Cargo profile of the programs; `dev` packs the programs that the tests run
    #[arg(long, default_value = "release")]
    profile: String,
}

/// Builds the package, and tests it.
pub fn run(Build { profile }: &Build) -> Result<()> {
    let sh = shell()?;
    let tools = root().join("target/release-tools");
    let machine = sh.var_os("PATH").unwrap_or_default();
    // dpkg and the maintainer scripts need programs from the last two folders.
    let folders = [PathBuf::from("/usr/sbin"), PathBuf::from("/sbin")];
    let path = [tools.join("bin")].into_iter().chain(env::split_paths(&machine)).chain(folders);
    sh.set_var("PATH", env::join_paths(path)?);
    let install = |tool: &[&str]| {
        quietly(cmd!(sh, "cargo install --quiet --locked --root {tools} {tool...}")).map(drop)
    };
    install(&["cargo-about@0.9.3", "--features", "cli"])?;
    install(&["cargo-deb@3.8.0"])?;
    if profile == "dev" {
        build("--bin", "plant-store")?;
        build("--bin", "plants")?;
    } else {
        let build = || cmd!(sh, "cargo build --locked --profile {profile}");
        build().args(["--package", "plant-store-server"]).run()?;
        build().args(["--package", "plant-store-client", "--features", "cli"]).run()?;
    }
    let built = target()?.join(if profile == "dev" { "debug" } else { profile });
    describe(&sh, &built.join("package"))?;
    let package = pack(&sh, profile, &built)?;
    quietly(cmd!(sh, "lintian --allow-root --fail-on error {package}"))?;
    install_into_folder(&sh, &package)?;
    println!("{}", package.display());
    Ok(())
}

/// Writes the manual pages, the completions, the licences and the changelog into a folder.
fn describe(sh: &Shell, folder: &Path) -> Result<()> {
    sh.remove_path(folder)?;
    let manuals = build("--example", "manuals")?;
    quietly(cmd!(sh, "{manuals} {folder}"))?;
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
    let pages = sh.read_dir(folder.join("man"))?;
    quietly(cmd!(sh, "gzip --no-name --best {path} {pages...}")).map(drop)
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

/// Installs the package into a temporary folder. Fails unless the user exists, no unit is enabled,
/// no store was created, and the programs of the units run.
fn install_into_folder(sh: &Shell, package: &Path) -> Result<()> {
    let temporary = sh.create_temp_dir()?;
    let root = temporary.path();
    sh.create_dir(root.join("var/lib/dpkg/info"))?;
    sh.create_dir(root.join("var/lib/dpkg/updates"))?;
    sh.write_file(root.join("var/lib/dpkg/status"), "")?;
    // The maintainer scripts run without chroot, because the temporary folder contains no shell.
    // dpkg passes them the path of the folder, and they do not touch the machine's own systemd.
    quietly(cmd!(
        sh,
        "dpkg --root={root} --log=/dev/null --force-not-root --force-script-chrootless
            --force-depends --install {package}"
    ))?;
    let users = sh.read_file(root.join("etc/passwd"))?;
    ensure!(users.starts_with("plant-store:"), "there is no user plant-store");
    ensure!(!root.join("etc/systemd").exists(), "the package enabled a unit");
    ensure!(!root.join("var/lib/plant-store").exists(), "the package created a store");
    for unit in ["plant-store", "plant-store-backup"] {
        let unit = sh.read_file(root.join(format!("usr/lib/systemd/system/{unit}.service")))?;
        ensure!(unit.contains("/usr/bin/plant-store "), "a unit starts another program");
    }
    let [service, client] = ["plant-store", "plants"].map(|name| root.join("usr/bin").join(name));
    let served = quietly(cmd!(sh, "{service} openapi"))?;
    ensure!(served == sh.read_file(DOCUMENT)?, "the installed program has a different document");
    quietly(cmd!(sh, "{client} --version")).map(drop)
}
