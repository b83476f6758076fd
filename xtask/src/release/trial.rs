//! Tests a package: lintian checks it, dpkg installs it into a temporary folder, and the installed
//! programs create a plant and back up the store. Then dpkg upgrades and purges the package.
//!
//! This must not require root, and must not touch the packages of the machine.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::checkout::{DOCUMENT, shell};
use crate::run::quietly;
use crate::server::Running;

const PLANT: &str = "{\"id\":1,\"name\":\"Ficus\"}\n";

/// Fails unless the package does what `server/deploy/README.md` promises.
pub fn run(package: &Path) -> Result<()> {
    let sh = shell()?;
    quietly(cmd!(sh, "lintian --allow-root --fail-on error {package}"))?;
    let temporary = sh.create_temp_dir()?;
    let root = temporary.path();
    sh.create_dir(root.join("var/lib/dpkg/info"))?;
    sh.create_dir(root.join("var/lib/dpkg/updates"))?;
    sh.write_file(root.join("var/lib/dpkg/status"), "")?;
    // dpkg and the maintainer scripts need programs from these folders.
    let path = format!("{}:/usr/sbin:/sbin", sh.var("PATH")?);
    // The maintainer scripts run without chroot, because the temporary folder contains no shell.
    // dpkg passes them the path of the folder, and they do not touch the machine's own systemd.
    let dpkg = |action: &str, what: &Path| {
        quietly(
            cmd!(
                sh,
                "dpkg --root={root} --log=/dev/null --force-not-root --force-script-chrootless
                    --force-depends {action} {what}"
            )
            .env("PATH", &path),
        )
    };

    dpkg("--install", package)?;
    assert_installed(&sh, root)?;
    let store = root.join("var/lib/plant-store/plant-store.db");
    create_and_back_up(&sh, root, &store)?;

    // An upgrade must keep the settings of the operator, and a purge must keep the store.
    let settings = root.join("etc/plant-store.env");
    sh.write_file(&settings, "PLANT_STORE_LISTEN=127.0.0.1:8081\n")?;
    dpkg("--install", package)?;
    ensure!(sh.read_file(&settings)?.contains("8081"), "the upgrade replaced the settings");
    dpkg("--purge", Path::new("plant-store"))?;
    ensure!(!root.join("usr/bin/plant-store").exists(), "the purge left the program behind");
    ensure!(store.exists(), "the purge removed the store");
    Ok(())
}

/// Fails unless the user exists, no unit is enabled, no store was created, and the programs of the
/// units are installed.
fn assert_installed(sh: &Shell, root: &Path) -> Result<()> {
    let users = sh.read_file(root.join("etc/passwd"))?;
    ensure!(users.starts_with("plant-store:"), "there is no user plant-store");
    ensure!(!root.join("etc/systemd").exists(), "the package enabled a unit");
    ensure!(!root.join("var/lib/plant-store").exists(), "the package created a store");
    for unit in ["plant-store", "plant-store-backup"] {
        let unit = sh.read_file(root.join(format!("usr/lib/systemd/system/{unit}.service")))?;
        ensure!(unit.contains("/usr/bin/plant-store "), "a unit starts another program");
    }
    let service = root.join("usr/bin/plant-store");
    let served = quietly(cmd!(sh, "{service} openapi"))?;
    ensure!(
        served == sh.read_file(DOCUMENT)?,
        "the installed program contains a different document"
    );
    Ok(())
}

/// Serves a new store, creates a plant, and backs up the store.
fn create_and_back_up(sh: &Shell, root: &Path, store: &Path) -> Result<()> {
    let [service, client] = ["plant-store", "plants"].map(|name| root.join("usr/bin").join(name));
    let folder = store.parent().unwrap_or(root);
    let store = format!("sqlite:{}", store.display());
    let backup = format!("sqlite:{}", root.join("var/backup.db").display());
    sh.create_dir(folder)?;
    let mut serve = Command::new(&service);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--store", &store]);
    let server = Running::start(&mut serve, folder)?;
    let create = cmd!(sh, "{client} create-plant --id 1 --name Ficus");
    quietly(create.envs(server.environment()))?;
    quietly(cmd!(sh, "{service} copy --from {store} --to {backup} --tokens from"))?;
    let saved = quietly(cmd!(sh, "{service} export --store {backup}"))?;
    ensure!(saved == PLANT, "the backup contains {saved:?}");
    Ok(())
}
