//! The READMEs agree with the code. No compiler checks them, so these tests do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use plant_store_api::error_code::ErrorCode;
use plant_store_tests::run;
use tempfile::TempDir;
use xtask::run::root;

use crate::metrics::{metrics_address, scrape, series};
use crate::tls::serving;
use crate::without_store::contract::document;

/// A document of the repository.
pub fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).expect("a file of the repository")
}

/// The first two cells of each row of the table whose first header is this.
pub fn table(text: &str, header: &str) -> Vec<(String, String)> {
    let header = format!("| {header}").trim_end().to_owned() + " |";
    let rows = text.lines().skip_while(|line| !line.starts_with(&header)).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).map(|line| {
        let mut cells = line.split('|').skip(1).map(|cell| cell.trim().to_owned());
        (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
    });
    cells.collect()
}

#[test]
fn readme_lists_every_error_code_with_its_meaning() {
    let expected = ErrorCode::ALL
        .iter()
        .map(|code| (code.number().to_string(), code.meaning().to_owned()))
        .collect::<Vec<_>>();
    assert_eq!(table(&text("README.md"), "`error`"), expected);
}

/// The numbers with which a text begins, as a person or a program lists them.
fn numbers(text: &str) -> Vec<u16> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let words = words.filter(|word| !["", "and", "or"].contains(word));
    words.map_while(|word| word.parse().ok()).collect()
}

/// The places that list by hand the values of `error` after which a create may be sent again, each
/// by the words before its list.
#[test]
fn lists_of_errors_that_may_be_repeated_are_that_of_the_table() {
    let codes = |may_pass| {
        let codes = ErrorCode::ALL.iter().filter(|code| code.may_pass() == may_pass);
        codes.map(|code| code.number()).collect::<Vec<_>>()
    };
    for (file, before) in [
        ("client/src/failure.rs", "if `error` is "),
        ("client/src/failure.rs", "\nconst MAY_PASS: [i32; 4] = ["),
        ("xtask/chores/src/docs/recipes.md", "after `error` "),
        ("tests/conformance/recipes/with_fetch.ts", "\nconst MAY_PASS = ["),
        ("tests/conformance/recipes/with_httpx.py", "\nMAY_PASS = {"),
        ("tests/conformance/recipes/with_requests.py", "\nMAY_PASS = {"),
    ] {
        let text = text(file);
        let (_, list) = text.split_once(before).unwrap_or_else(|| panic!("{file}: no {before:?}"));
        assert_eq!(numbers(list), codes(true), "{file}: {before}");
    }
    let guide = text("client/README.md");
    let rows: Vec<_> = guide.lines().filter_map(|line| line.strip_prefix("| `error` ")).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows {
        assert_eq!(numbers(row), codes(row.contains("| yes")), "{row}");
    }
    let readme = text("README.md");
    for code in ErrorCode::ALL {
        let row = format!("| {} | {} |", code.number(), code.meaning());
        let (_, advice) = readme.split_once(&row).expect("a row");
        let advice = advice.lines().next().unwrap_or_default();
        assert_eq!(advice.contains("send it again"), code.may_pass(), "{row}{advice}");
    }
}

/// The reference page has one example for each value of `error`, in words that the code has.
#[test]
fn page_has_an_example_of_each_error_and_the_defaults_of_its_limits() {
    let page = text("xtask/chores/src/docs/overview.md");
    let code = ["refusal", "strict", "strict/tests"]
        .map(|file| text(&format!("server/src/http/{file}.rs")));
    let code = code.concat();
    let mut numbers = Vec::new();
    for (number, message) in table(&page, "`error`") {
        numbers.push(number.parse::<u16>().expect("a number"));
        // A placeholder of the code is a number here, or a `member`.
        let words = message.split(|char: char| char.is_ascii_digit() || char == '`');
        for words in words.filter(|words| words.len() > 12).flat_map(|words| words.split("; ")) {
            assert!(code.contains(words.trim()), "{number}: the code has no {words:?}");
        }
    }
    let expected: Vec<_> = ErrorCode::ALL.iter().map(|code| code.number()).collect();
    assert_eq!(numbers, expected);

    let defaults = table(&text("server/README.md"), "flag");
    for row in page.lines().filter(|line| line.contains("| `--")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let default = defaults.iter().find(|(flag, _)| flag == cells[3]).expect(row).1.clone();
        let default = default.replace('`', "");
        let shown = if cells[2] == "none" { String::new() } else { cells[2].replace(' ', "") };
        assert_eq!(shown, default, "{row}");
    }
}

/// The map names each value of `error` at the step that answers it, and also the router's 404 and
/// 405.
#[test]
fn journey_of_a_request_names_every_error_code() {
    let map = text("server/src/lib.rs");
    let refused = map.lines().filter_map(|line| line.split_once("(else ")?.1.split(')').next());
    let named = refused.flat_map(|list| list.split(", ").map(|code| code.parse().expect("a code")));
    let expected = ErrorCode::ALL.iter().map(|code| code.number()).chain([404, 405]);
    assert_eq!(named.collect::<BTreeSet<u16>>(), expected.collect());
}

#[test]
fn view_for_people_shows_every_member_of_a_plant() {
    let guide = text("server/POSTGRESQL.md");
    let (_, view) = guide.split_once("CREATE VIEW plants_as_text").expect("a view");
    let (columns, _) = view.split_once(" FROM plants").expect("the view reads the plants");
    let properties = &document()["components"]["schemas"]["NewPlant"]["properties"];
    for (member, schema) in properties.as_object().expect("an object") {
        let column = match schema["type"].as_str() {
            Some("string") => format!(" convert_from({member}, 'UTF8') AS {member},"),
            _ => format!(" {member},"),
        };
        assert!(format!("{columns},").contains(&column), "the view lacks:{column}");
    }
}

/// The Markdown files below a folder, without those in the folders of a build or of git.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && !["target", ".git"].contains(&name.to_str().unwrap_or_default()) {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// `overview.md` is a part of the reference page, and links to the document beside that.
#[test]
fn links_of_every_document_lead_to_a_file_or_a_folder() {
    let mut found = Vec::new();
    documents(root(), &mut found);
    assert!(found.len() > 10, "{found:?}");
    for document in found.iter().filter(|document| !document.ends_with("overview.md")) {
        let text = fs::read_to_string(document).expect("text");
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
            let target = document.parent().expect("a folder").join(link);
            assert!(target.exists(), "{} links to {link}", document.display());
        }
    }
}

#[test]
fn server_readme_lists_every_flag_with_its_default_and_each_has_its_variable() {
    let folder = TempDir::new().expect("a temporary folder");
    let help = String::from_utf8(run(folder.path(), &["serve", "--help"]).stdout).expect("text");
    let flags = table(&text("server/README.md"), "flag");
    let listed: BTreeSet<_> = flags.iter().map(|(flag, _)| flag.trim_matches('`')).collect();
    let flags_of_help = help.lines().filter_map(|line| line.trim_start().split(' ').next());
    let of_help: BTreeSet<_> = flags_of_help.filter(|word| word.starts_with("--")).collect();
    assert_eq!(listed, of_help);
    for (flag, default) in &flags {
        let (_, of_flag) =
            help.split_once(&format!("      {}", flag.trim_matches('`'))).expect("a flag");
        let of_flag = of_flag.split("\n      --").next().unwrap_or_default();
        let variable = flag.trim_matches(['`', '-']).replace('-', "_").to_uppercase();
        let variable = format!("[env: PLANT_STORE_{variable}");
        let (_, rest) =
            of_flag.split_once(&variable).unwrap_or_else(|| panic!("{flag}: {of_flag}"));
        assert!(rest.starts_with([']', '=']), "{flag}: {of_flag}");
        let default = default.trim_matches('`');
        assert!(default.is_empty() || of_flag.contains(&format!("[default: {default}]")), "{flag}");
    }
}

#[test]
fn alerts_and_dashboard_name_series_that_are_served() {
    let (server, _) = serving(&["--metrics", "127.0.0.1:0"]);
    let metrics = metrics_address(&server);
    let is_in_a_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let both = text("server/alerts.yaml") + &text("server/dashboard.json");
    let names: BTreeSet<_> = both
        .split(|letter| !is_in_a_name(letter))
        .filter(|word| word.starts_with("plant_store_"))
        // PostgreSQL alone has this one.
        .filter(|name| *name != "plant_store_database_retries_total")
        .collect();
    assert!(names.len() > 3, "{names:?}");
    for name in names {
        // Some are there within a second.
        server.wait_until(&format!("{name} is served"), || {
            let scrape = scrape(metrics);
            series(&scrape).keys().any(|key| key.split('{').next() == Some(name))
        });
    }
}

#[test]
fn changelog_begins_with_the_version_of_the_package() {
    for package in ["client", "server"] {
        let readme = text(&format!("{package}/README.md"));
        let (_, changelog) = readme.split_once("\n## Changelog\n").expect("a changelog");
        let release = changelog.lines().find_map(|line| line.strip_prefix("### "));
        assert_eq!(release, Some(env!("CARGO_PKG_VERSION")), "{package}");
    }
}
