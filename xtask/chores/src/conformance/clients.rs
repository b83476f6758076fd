//! The clients of other generators: the `run.sh` of each folder of `tests/conformance/clients`
//! makes one from the document and calls the service with it. It creates a plant, meets a conflict
//! and a refused token, and reads both members of the typed error.

use anyhow::Result;
use xshell::cmd;

use super::service::Service;
use crate::tools::shell;
use xtask::run::{has, need, quietly};

pub fn run() -> Result<()> {
    let sh = shell()?;
    // OpenAPI Generator is a Java program, and one of its clients is in Java. Nothing else here is.
    let java = need("javac", has("javac").then_some(()), "install a JDK")?;
    for client in sh.read_dir("clients")? {
        let is_in_java = client.to_string_lossy().contains("openapi-generator");
        if client.is_dir() && (java.is_some() || !is_in_java) {
            println!("{}", client.display());
            let service = Service::start(&[])?;
            let _folder = sh.push_dir(client);
            quietly(cmd!(sh, "sh -eux run.sh").envs(service.environment()))?;
        }
    }
    Ok(())
}
