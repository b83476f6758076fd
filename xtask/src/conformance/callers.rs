//! Third-party programs that call the service. The service runs on a new store for each of them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xshell::{Cmd, Shell, cmd};

use crate::cargo::{build, build_example};
use crate::conformance::other_answers::{FakeService, OTHER_ANSWERS};
use crate::docs::REQUESTS;
use crate::needs::{found_or_skipped, has};
use crate::run::quietly;
use crate::server::Running;
use crate::tools::{folder, shell};

/// The minimum total number of requests. The README promises it.
const ENOUGH: u64 = 5_000;

/// The kinds of requests, and the flags that make Schemathesis send them. They run one after the
/// other, because a mixed run may send hardly any requests of one kind.
const KINDS: [Kind; 3] = [
    Kind { name: "valid", flags: &["--mode", "positive"] },
    Kind {
        name: "invalid",
        flags: &["--mode", "negative", "--generation-with-security-parameters", "false"],
    },
    Kind { name: "invalid, credentials included", flags: &["--mode", "negative"] },
];

struct Kind {
    name: &'static str,
    /// The flags for Schemathesis.
    flags: &'static [&'static str],
}

const REPORT: &str = "schemathesis.json";

/// The recipes, as files in `tests/conformance`, like the files of [`REQUESTS`].
const RECIPES: [&str; 3] =
    ["recipes/with_fetch.ts", "recipes/with_requests.py", "recipes/with_httpx.py"];

const PLANT_OF_A_REQUEST: &str = "{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}\n";

/// Two ids that a JavaScript number cannot represent, and a plant without a tag.
const PLANTS_OF_A_RECIPE: &str = "\
{\"id\":9007199254740993,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}
{\"id\":9223372036854775807,\"name\":\"Ficus lyrata\"}
";

/// Runs the clients of other generators. The `run.sh` in each folder of `tests/conformance/clients`
/// generates a client from the document and calls the service with it: it creates a plant, causes a
/// conflict, sends a token that is refused, and reads both members of the typed error.
pub fn clients() -> Result<()> {
    let sh = shell()?;
    // OpenAPI Generator is a Java program, and one of its clients is in Java.
    let has_java = found_or_skipped("javac", has("javac"), "install a JDK")?;
    for client in sh.read_dir("clients")? {
        let needs_java = client.to_string_lossy().contains("openapi-generator");
        if client.is_dir() && (has_java || !needs_java) {
            println!("{}", client.display());
            let service = Service::start(&[])?;
            let _folder = sh.push_dir(client);
            quietly(cmd!(sh, "sh -eux run.sh").envs(service.environment()))?;
        }
    }
    Ok(())
}

/// Runs Schemathesis, which generates valid and invalid requests from the document. The answer to
/// each must match the document.
pub fn fuzz() -> Result<()> {
    let sh = shell()?;
    let mut requests = 0;
    for Kind { name, flags } in KINDS {
        // On a new store each time, because the hook only knows the ids of its own run.
        let service = Service::start(&[])?;
        let schemathesis = cmd!(
            sh,
            "schemathesis run plant-store.json --report json --report-json-path {REPORT} {flags...}"
        );
        quietly(schemathesis.envs(service.environment()))?;
        let report: Value = serde_json::from_str(&sh.read_file(REPORT)?)?;
        let generated = report["test_cases"]["generated"].as_u64();
        let sent = generated.context("the report counts no test cases")?;
        println!("schemathesis: {sent} requests ({name}), no failure");
        requests += sent;
    }
    ensure!(requests >= ENOUGH, "Schemathesis sent {requests} requests, not {ENOUGH}");
    Ok(())
}

/// Runs the requests and the recipes of the reference page, unchanged, against the service.
///
/// Each creates its plants, and in another run gets the message for a refused token. A recipe may
/// send one create per second, so its second create is refused, and the recipe repeats it. None may
/// repeat a request that can never succeed.
pub fn examples() -> Result<()> {
    let files = || REQUESTS.into_iter().map(|request| request.file).chain(RECIPES);
    let typescript = files().filter(|file| file.ends_with("ts"));
    let sh = shell()?;
    quietly(cmd!(
        sh,
        "tsc --strict --target es2022 --module nodenext --types node {typescript...}"
    ))?;
    for file in files() {
        println!("{file}");
        check(file).with_context(|| format!("tests/conformance/{file}"))?;
    }
    Ok(())
}

fn check(file: &str) -> Result<()> {
    let is_recipe = file.starts_with("recipes");
    let service = Service::start(&[])?;
    let sh = shell()?;
    let command = || anyhow::Ok(command(&sh, file)?.envs(service.environment()));
    let failure = quietly(command()?.env("PLANTS_TOKEN", "unknown")).err();
    let refusal = failure.context("no failure for a refused token")?.to_string();
    ensure!(refusal.contains("401"), "no 401 in the output for a refused token:\n{refusal}");
    let output = quietly(command()?)?;
    ensure!(output.contains("Monstera deliciosa"), "the output does not name the plant:\n{output}");
    let expected = if is_recipe { PLANTS_OF_A_RECIPE } else { PLANT_OF_A_REQUEST };
    let stored = service.export()?;
    ensure!(stored == expected, "the store contains\n{stored}instead of\n{expected}");
    // Records reach the log after the client gets its answers, but in the same order.
    service.wait_for(expected.lines().count(), "status", 200)?;
    ensure!(service.logged("error", 401)? == 1, "a refused token was sent again");
    if is_recipe {
        for case in &OTHER_ANSWERS {
            let service = FakeService::serve(case)?;
            service.check(case, &quietly(command()?.env("PLANTS_URL", &service.url)))?;
        }
    }
    Ok(())
}

/// Returns the command that runs a file, depending on its language. `tsc` must have run before.
fn command<'a>(sh: &'a Shell, file: &str) -> Result<Cmd<'a>> {
    Ok(match file.rsplit_once('.') {
        Some((_, "sh")) => cmd!(sh, "sh {file}"),
        Some((_, "py")) => cmd!(sh, "python {file}"),
        Some((script, "ts")) => cmd!(sh, "node {script}.js"),
        _ => sh.cmd(build_example("request")?),
    })
}

/// A running service. Dropping this kills the process.
struct Service {
    process: Running,
    binary: PathBuf,
    /// The folder of the store and the log.
    folder: PathBuf,
}

impl Service {
    /// Starts the service with these flags, in a folder that keeps the store and the log until the
    /// next start.
    fn start(limits: &[&str]) -> Result<Self> {
        let binary = build("plant-store")?;
        let sh = Shell::new()?;
        let folder = folder().join("store");
        sh.remove_path(&folder)?;
        sh.create_dir(&folder)?;
        let mut command = Command::new(&binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "debug"]).args(limits);
        let process = Running::start(&mut command, &folder)
            .with_context(|| format!("see the log in {}", folder.display()))?;
        Ok(Self { process, binary, folder })
    }

    /// Returns the environment variables that tell a program about the service.
    fn environment(&self) -> [(&'static str, &str); 2] {
        [("PLANTS_URL", &self.process.url), ("PLANTS_TOKEN", &self.process.token)]
    }

    /// Returns all plants of the store, as printed by `plant-store export`.
    fn export(&self) -> Result<String> {
        let sh = Shell::new()?;
        sh.change_dir(&self.folder);
        let binary = &self.binary;
        quietly(cmd!(sh, "{binary} export"))
    }

    /// Waits until the log contains this number of records with this value in this field.
    fn wait_for(&self, records: usize, field: &str, value: u16) -> Result<()> {
        let end = Instant::now() + Duration::from_mins(1);
        while self.logged(field, value)? < records {
            ensure!(Instant::now() < end, "the log lacks {records} records with {field} {value}");
            sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Returns how many records in the log have this value in this field so far.
    fn logged(&self, field: &str, value: u16) -> Result<usize> {
        let log = fs::read_to_string(self.folder.join("log")).context("cannot read the log")?;
        let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Ok(records.filter(|record| record[field] == value).count())
    }
}
