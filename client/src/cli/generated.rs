// Generated from the OpenAPI document. Edits of this file are lost.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    unused_imports,
    unused_variables,
    reason = "generated: the generator decides how it reads"
)]

use crate::cli::contract::*;
use anyhow::Context as _;
pub struct Cli<T: CliConfig> {
    client: Client,
    config: T,
}
impl<T: CliConfig> Cli<T> {
    pub fn new(client: Client, config: T) -> Self {
        Self { client, config }
    }
    pub fn get_command(cmd: CliCommand) -> ::clap::Command {
        match cmd {
            CliCommand::CreatePlant => Self::cli_create_plant(),
        }
    }
    pub fn cli_create_plant() -> ::clap::Command {
        ::clap::Command::new("")
            .arg(
                ::clap::Arg::new("id")
                    .long("id")
                    .value_parser(::clap::value_parser!(i64))
                    .required_unless_present("json-body")
                    .help(
                        "Identification number of the plant, chosen by the client: any signed 64-bit integer. Languages whose numbers are doubles, such as JavaScript and TypeScript, round integers above 2^53, so two different ids can become the same id. In these languages, use a type that preserves every digit.",
                    ),
            )
            .arg(
                ::clap::Arg::new("name")
                    .long("name")
                    .value_parser(::clap::value_parser!(::std::string::String))
                    .required_unless_present("json-body")
                    .help("Name of the plant."),
            )
            .arg(
                ::clap::Arg::new("tag")
                    .long("tag")
                    .value_parser(::clap::value_parser!(::std::string::String))
                    .required(false)
                    .help(
                        "Tag that specifies the type of the plant. It may be absent, but is never null.",
                    ),
            )
            .arg(
                ::clap::Arg::new("json-body")
                    .long("json-body")
                    .value_name("JSON-FILE")
                    .required(false)
                    .value_parser(::clap::value_parser!(std::path::PathBuf))
                    .help("Path to a file that contains the full json body."),
            )
            .arg(
                ::clap::Arg::new("json-body-template")
                    .long("json-body-template")
                    .action(::clap::ArgAction::SetTrue)
                    .help("XXX"),
            )
            .about(
                "Create a plant\n\nCreates a new plant in the store.\n\nThe response is sent once the plant is durable. The operation is idempotent: if the same plant is sent again, the response is 200 again. A different plant with the same `id` is refused with `error` 409, and the first plant stays unchanged. After `error` 500 or 503, or if there is no response, the plant may or may not be stored: send the same request again.",
            )
    }
    pub async fn execute(
        &self,
        cmd: CliCommand,
        matches: &::clap::ArgMatches,
    ) -> anyhow::Result<()> {
        match cmd {
            CliCommand::CreatePlant => self.execute_create_plant(matches).await,
        }
    }
    pub async fn execute_create_plant(
        &self,
        matches: &::clap::ArgMatches,
    ) -> anyhow::Result<()> {
        let mut request = self.client.create_plant();
        if let Some(value) = matches.get_one::<i64>("id") {
            request = request.body_map(|body| { body.id(value.clone()) });
        }
        if let Some(value) = matches.get_one::<::std::string::String>("name") {
            request = request.body_map(|body| { body.name(value.clone()) });
        }
        if let Some(value) = matches.get_one::<::std::string::String>("tag") {
            request = request.body_map(|body| { body.tag(value.clone()) });
        }
        if let Some(value) = matches.get_one::<std::path::PathBuf>("json-body") {
            let body_txt = std::fs::read_to_string(value)
                .with_context(|| format!("failed to read {}", value.display()))?;
            let body_value = serde_json::from_str::<types::NewPlant>(&body_txt)
                .with_context(|| format!("failed to parse {}", value.display()))?;
            request = request.body(body_value);
        }
        self.config.execute_create_plant(matches, &mut request)?;
        let result = request.send().await;
        match result {
            Ok(r) => {
                self.config.success_item(&r);
                Ok(())
            }
            Err(r) => {
                self.config.error(&r);
                Err(anyhow::Error::new(r))
            }
        }
    }
}
pub trait CliConfig {
    fn success_item<T>(&self, value: &ResponseValue<T>)
    where
        T: schemars::JsonSchema + serde::Serialize + std::fmt::Debug;
    fn success_no_item(&self, value: &ResponseValue<()>);
    fn error<T>(&self, value: &Error<T>)
    where
        T: schemars::JsonSchema + serde::Serialize + std::fmt::Debug;
    fn list_start<T>(&self)
    where
        T: schemars::JsonSchema + serde::Serialize + std::fmt::Debug;
    fn list_item<T>(&self, value: &T)
    where
        T: schemars::JsonSchema + serde::Serialize + std::fmt::Debug;
    fn list_end_success<T>(&self)
    where
        T: schemars::JsonSchema + serde::Serialize + std::fmt::Debug;
    fn list_end_error<T>(&self, value: &Error<T>)
    where
        T: schemars::JsonSchema + serde::Serialize + std::fmt::Debug;
    fn execute_create_plant(
        &self,
        matches: &::clap::ArgMatches,
        request: &mut builder::CreatePlant,
    ) -> anyhow::Result<()> {
        Ok(())
    }
}
#[derive(Copy, Clone, Debug)]
pub enum CliCommand {
    CreatePlant,
}
impl CliCommand {
    pub fn iter() -> impl Iterator<Item = CliCommand> {
        vec![CliCommand::CreatePlant,].into_iter()
    }
    pub fn operation_id(&self) -> &'static str {
        match self {
            CliCommand::CreatePlant => "create_plant",
        }
    }
}
