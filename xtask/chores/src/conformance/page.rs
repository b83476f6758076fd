//! The reference page in a real Chromium: `page.js` of `tests/conformance` looks at it.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use xshell::cmd;

use crate::docs;
use crate::tools::shell;
use xtask::machine::need;
use xtask::run::quietly;

/// In bytes. A reader may be on a slow connection.
const TOO_LARGE: u64 = 3_000_000;

/// The names that Debian, Ubuntu and Google give it.
const CHROMIUM: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

pub fn run() -> Result<()> {
    docs::write()?;
    let page = docs::folder().join("index.html");
    let size = fs::metadata(&page).context("there is no page")?.len();
    println!("page: {} kB", size / 1_000);
    ensure!(size < TOO_LARGE, "the page has {size} bytes; fewer than {TOO_LARGE} are asked for");
    if let Some(chromium) = need("chromium", chromium, "`apt-get install chromium`")? {
        let sh = shell()?;
        print!("{}", quietly(cmd!(sh, "node page.js {chromium} {page}"))?);
    }
    Ok(())
}

fn chromium() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let programs = |name| env::split_paths(&path).map(move |folder| folder.join(name));
    CHROMIUM.into_iter().flat_map(programs).find(|program| program.is_file())
}
