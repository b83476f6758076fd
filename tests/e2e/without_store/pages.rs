//! The checked-in document and pages: the specification, the flags, and the names of metrics in the
//! alerts. The test `golden` of `xtask` compares the document with the one that the code generates.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write;

use assert_json_diff::assert_json_include;
use groundwork::command_line;
use groundwork_testing::assert_between_markers;
use plant_store_server::PLANT_STORE;
use plant_store_tests::prelude::*;

/// Returns the content of a file in the repository.
pub fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).expect("a file of the repository")
}

/// Returns the first two cells of each row in the table whose first header is `header`.
pub fn table(text: &str, header: &str) -> Vec<(String, String)> {
    let header = format!("| {header} |");
    let rows = text.lines().skip_while(|line| !line.starts_with(&header)).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).map(|line| {
        let mut cells = line.split('|').skip(1).map(|cell| cell.trim().to_owned());
        (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
    });
    cells.collect()
}

/// With `EXPECTORATE=overwrite`, the test writes the table. Each flag must also have its variable.
#[test]
fn table_of_flags_in_the_server_readme_is_current() {
    let cli = command_line(&PLANT_STORE);
    let serve = cli.find_subcommand("serve").expect("the command");
    let mut table = "| flag | default | |\n| --- | --- | --- |\n".to_owned();
    for flag in serve.get_arguments() {
        let name = flag.get_long().expect("a long name");
        let variable = format!("PLANT_STORE_{}", name.replace('-', "_").to_uppercase());
        assert_eq!(flag.get_env(), Some(OsStr::new(&variable)), "{name}");
        let takes_value = flag.get_action().takes_values();
        let default = flag.get_default_values().first().filter(|_| takes_value);
        let default = default.map_or(String::new(), |value| format!(" `{}`", value.display()));
        let mut help = flag.get_help().expect("a help text").to_string();
        let values = flag.get_possible_values();
        if takes_value && !values.is_empty() {
            let names = values.iter().map(|value| format!("`{}`", value.get_name()));
            let names = names.collect::<Vec<_>>();
            write!(help, " [possible values: {}]", names.join(", ")).expect("a string takes it");
        }
        writeln!(table, "| `--{name}` |{default} | {help} |").expect("a string takes it");
    }
    assert_between_markers(root().join("server/README.md"), "flags", &table);
}

/// The tests of monitoring compare the documented series with the served ones.
#[test]
fn alerts_name_series_that_are_documented() {
    let documented: BTreeSet<_> = table(&text("server/OPERATING.md"), "series")
        .into_iter()
        .map(|(name, _)| name.trim_matches('`').to_owned())
        .collect();
    let alerts = text("server/alerts.yaml");
    let words = alerts.split(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
    let names: BTreeSet<_> = words.filter(|word| word.starts_with("plant_store_")).collect();
    assert!(names.len() > 3, "{names:?}");
    for name in names {
        let of_histogram = ["_bucket", "_sum", "_count"].map(|end| name.strip_suffix(end));
        let mut series = of_histogram.into_iter().flatten().chain([name]);
        assert!(series.any(|series| documented.contains(series)), "{name}");
    }
}

/// Returns the checked-in document.
fn document() -> Value {
    serde_json::from_str(&text("openapi/plant-store.json")).expect("the document is JSON")
}

/// `specification.json` is the specification as an OpenAPI document, written by hand. Values that
/// OpenAPI requires and the specification leaves open are those that were published first: the
/// default of `base_url`, `operationId` and the tag.
#[test]
fn document_contains_the_whole_specification() {
    let mut specified: Value =
        serde_json::from_str(include_str!("../../specification.json")).expect("JSON");
    // An addition to the document changes its version.
    specified["info"]["version"] = document()["info"]["version"].clone();
    assert_json_include!(actual: document(), expected: specified);
}

/// `into_parts` names the fields of both types, but it still compiles if it drops a field. The
/// service would then answer 200 and lose the member.
#[test]
fn new_plant_has_the_members_of_a_plant_and_an_id() {
    let schemas = &document()["components"]["schemas"];
    let mut new_plant = schemas["NewPlant"].clone();
    new_plant["properties"].as_object_mut().expect("properties").remove("id").expect("an id");
    new_plant["required"].as_array_mut().expect("names").retain(|name| name != "id");
    for keyword in ["properties", "required"] {
        assert_eq!(new_plant[keyword], schemas["Plant"][keyword]);
    }
}
