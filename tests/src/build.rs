//! Builds the programs of the workspace that the tests run, and the C libraries that intercept the
//! system calls of a process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use escargot::CargoBuild;

/// Builds a program of the workspace, and returns its path.
///
/// A release build uses the same features as the users of the program. A debug build uses the
/// features of the whole workspace, like the build of the tests, so that nothing is built twice.
/// After `cargo xtask test` has built everything, this builds nothing.
///
/// The checkout is the one that contains the package that cargo runs, or else the current folder.
pub fn build(program: &str, release: bool) -> Result<PathBuf> {
    let release_of = |package| CargoBuild::new().package(package).release();
    let build = match (release, program) {
        (false, _) => in_workspace(),
        (true, "plants") => release_of("plant-store-client").features("cli"),
        (true, "goose-farm") => release_of("goose-farm"),
        (true, _) => release_of("plant-store-server"),
    };
    run(build.bin(program))
}

/// Builds an example of the workspace, and returns its path.
pub fn build_example(name: &str) -> Result<PathBuf> {
    run(in_workspace().example(name))
}

fn in_workspace() -> CargoBuild {
    // The default members of the workspace.
    CargoBuild::new().args(["--workspace", "--exclude", "plant-store-bench"])
}

fn run(build: CargoBuild) -> Result<PathBuf> {
    let build = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(package) => build.manifest_path(PathBuf::from(package).join("Cargo.toml")),
        None => build,
    };
    Ok(build.run().context("cannot build the program")?.path().to_owned())
}

/// Returns the path of the binary `plant-store`. The first call builds it, in the profile of the
/// tests. Tests run it with [`binary_in`](crate::binary_in), which sets its folder and its address.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| build("plant-store", !cfg!(debug_assertions)).expect("the binary builds"))
}

/// Compiles `e2e/SOURCE.c`, a library that intercepts system calls with LD_PRELOAD.
pub fn library(source: &str, folder: &Path) -> PathBuf {
    let library = folder.join(format!("{}.so", std::process::id()));
    let source = format!("{}/e2e/{source}.c", env!("CARGO_MANIFEST_DIR"));
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", &source, "-o"])
        .arg(&library)
        .status()
        .expect("there is a C compiler, as the build needs one");
    assert!(status.success(), "{source} compiles");
    library
}
