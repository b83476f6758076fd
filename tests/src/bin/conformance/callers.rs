//! The programs of others that call the service, and the service, on a store that starts empty.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use plant_store_chores::docs::REQUESTS;
use plant_store_chores::tools::{folder, shell};
use plant_store_tests::{Launched, build, build_example, token};
use serde_json::Value;
use xshell::{Cmd, Shell, cmd};
use xtask::needs::{found_or_skipped, has};
use xtask::run::quietly;

use crate::other_answers::{OTHER_ANSWERS, Others};

/// The least number of requests in all. The README promises it.
const ENOUGH: u64 = 5_000;

/// What is sent, and how Schemathesis is asked for it: one kind after the other, because a
/// mixed run may make hardly any requests of one kind.
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
    /// For Schemathesis.
    flags: &'static [&'static str],
}

const REPORT: &str = "schemathesis.json";

/// Files of `tests/conformance`, as those of [`REQUESTS`].
const RECIPES: [&str; 3] =
    ["recipes/with_fetch.ts", "recipes/with_requests.py", "recipes/with_httpx.py"];

const PLANT_OF_A_REQUEST: &str = "{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}\n";

/// Two ids that a number of JavaScript cannot hold, and a plant without a tag.
const PLANTS_OF_A_RECIPE: &str = "\
{\"id\":9007199254740993,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}
{\"id\":9223372036854775807,\"name\":\"Ficus lyrata\"}
";

/// The clients of other generators: the `run.sh` of each folder of `tests/conformance/clients`
/// makes one from the document and calls the service with it. It creates a plant, meets a conflict
/// and a refused token, and reads both members of the typed error.
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

/// Schemathesis: it makes valid and invalid requests from the document. Each must be answered as
/// the document says.
pub fn fuzz() -> Result<()> {
    let sh = shell()?;
    let mut requests = 0;
    for Kind { name, flags } in KINDS {
        // On a new store each time: the hook knows the ids of its own run alone.
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
    ensure!(requests >= ENOUGH, "Schemathesis sent {requests} requests; {ENOUGH} are asked for");
    Ok(())
}

/// The requests and the recipes of the reference page, unchanged, on the service.
///
/// Each creates its plants, and once gets the message of a refused token. A recipe may send one
/// create a second, so its second one is refused, and it repeats that. None repeats what can never
/// succeed.
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
    let limits: &[&str] = if is_recipe { &["--max-rate", "1"] } else { &[] };
    let service = Service::start(limits)?;
    let sh = shell()?;
    let command = || anyhow::Ok(command(&sh, file)?.envs(service.environment()));
    let failure = quietly(command()?.env("PLANTS_TOKEN", "unknown")).err();
    let refusal = failure.context("no failure for a refused token")?.to_string();
    ensure!(refusal.contains("401"), "it does not say 401 for a refused token:\n{refusal}");
    let said = quietly(command()?)?;
    ensure!(said.contains("Monstera deliciosa"), "it does not say what it made:\n{said}");
    let expected = if is_recipe { PLANTS_OF_A_RECIPE } else { PLANT_OF_A_REQUEST };
    let stored = service.export()?;
    ensure!(stored == expected, "the store holds\n{stored}and not\n{expected}");
    // The log has its records later than the client its answers, and in the same order.
    service.wait_for(expected.lines().count(), "status", 200)?;
    ensure!(service.logged("error", 401)? == 1, "a refused token was sent again");
    ensure!(!is_recipe || service.logged("error", 429)? > 0, "no create was refused");
    if is_recipe {
        for case in &OTHER_ANSWERS {
            let others = Others::serve(case)?;
            others.check(case, &quietly(command()?.env("PLANTS_URL", &others.url)))?;
        }
    }
    Ok(())
}

/// How a file of this language is run, after `tsc`.
fn command<'a>(sh: &'a Shell, file: &str) -> Result<Cmd<'a>> {
    Ok(match file.rsplit_once('.') {
        Some((_, "sh")) => cmd!(sh, "sh {file}"),
        Some((_, "py")) => cmd!(sh, "python {file}"),
        Some((script, "ts")) => cmd!(sh, "node {script}.js"),
        _ => sh.cmd(build_example("request")?),
    })
}

/// A serving process. Dropping it kills it.
struct Service {
    process: Launched,
    /// A token that it accepts.
    token: String,
    binary: PathBuf,
    /// Where its store and its log are.
    folder: PathBuf,
}

impl Service {
    /// Starts the service, with limits as flags, in a folder that keeps its store and its log until
    /// the next start.
    fn start(limits: &[&str]) -> Result<Self> {
        let binary = build("plant-store", false)?;
        let sh = Shell::new()?;
        let folder = folder().join("store");
        sh.remove_path(&folder)?;
        sh.create_dir(&folder)?;
        let log = File::create(folder.join("log")).context("cannot make the log")?;
        let mut command = Command::new(&binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "debug"]).args(limits);
        let process = Launched::start(command.current_dir(&folder).stderr(log))
            .with_context(|| format!("the log is beside the store: {}", folder.display()))?;
        let printed = process.first_request.as_deref().context("no token was printed")?;
        let token = token(printed)?.to_owned();
        Ok(Self { process, token, binary, folder })
    }

    /// The variables that tell a tool about the service.
    fn environment(&self) -> [(&'static str, &str); 2] {
        [("PLANTS_URL", &self.process.url), ("PLANTS_TOKEN", &self.token)]
    }

    /// Every plant of the store, as `plant-store export` prints them.
    fn export(&self) -> Result<String> {
        let sh = Shell::new()?;
        sh.change_dir(&self.folder);
        let binary = &self.binary;
        quietly(cmd!(sh, "{binary} export"))
    }

    /// Waits until the log has this number of records with this value in this field.
    fn wait_for(&self, records: usize, field: &str, value: u16) -> Result<()> {
        let end = Instant::now() + Duration::from_mins(1);
        while self.logged(field, value)? < records {
            ensure!(Instant::now() < end, "the log has no {records} records with {field} {value}");
            sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// How many records of the log have this value in this field by now.
    fn logged(&self, field: &str, value: u16) -> Result<usize> {
        let log = fs::read_to_string(self.folder.join("log")).context("cannot read the log")?;
        let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Ok(records.filter(|record| record[field] == value).count())
    }
}
