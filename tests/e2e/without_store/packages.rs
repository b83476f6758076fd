//! What a registry would get: the server and the client, with what their users need and no more.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;
use xtask::run::root;

/// The folders of the packages that are published.
const PUBLISHED: [&str; 2] = ["client", "server"];

/// What a package holds beside `src`, READMEs, and what cargo adds.
const BESIDE: [&str; 7] = [
    "LICENSE",
    "alerts.yaml",
    "deploy/Containerfile",
    "deploy/nginx.conf",
    "deploy/plant-store.service",
    "examples/create_plant.rs",
    "tests/mock.rs",
];

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output();
    let output = output.expect("cargo starts");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn text(package: &str, file: &str) -> String {
    fs::read_to_string(root().join(package).join(file)).expect("a file of the package")
}

/// The files of a package.
fn files(package: &str) -> BTreeSet<String> {
    let package = format!("plant-store-{package}");
    let listed = cargo(&["package", "--list", "--allow-dirty", "--package", &package]);
    listed.lines().map(ToOwned::to_owned).collect()
}

/// What the name of a file ends with.
fn kind(file: &str) -> &str {
    file.rsplit_once('.').map_or("", |(_, kind)| kind)
}

/// Where the links of a Markdown text lead, but for those to other sites, headings and folders above.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    links.filter(|link| !link.is_empty() && !link.contains("://") && !link.starts_with(".."))
}

#[test]
fn package_holds_sources_readmes_and_licence_and_what_its_readmes_link_to() {
    for package in PUBLISHED {
        let files = files(package);
        let is_wanted = |file: &&String| {
            let by_cargo = file.starts_with("Cargo.") || *file == ".cargo_vcs_info.json";
            let by_kind = file.starts_with("src/") && kind(file) == "rs" || kind(file) == "md";
            by_cargo || by_kind || BESIDE.contains(&file.as_str())
        };
        assert!(files.iter().all(|file| is_wanted(&file)), "{package}: {files:?}");
        for file in ["LICENSE", "README.md", "src/lib.rs"] {
            assert!(files.contains(file), "{package}: {file}");
        }
        for readme in files.iter().filter(|file| kind(file) == "md") {
            let folder =
                readme.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            for link in links(&text(package, readme)) {
                assert!(
                    files.contains(&format!("{folder}{link}")),
                    "{package}: {readme} to {link}"
                );
            }
        }
    }
}

#[test]
fn only_server_and_client_are_published_and_both_hold_the_text_of_their_licence() {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let published = packages.iter().filter(|package| package["publish"].is_null());
    let names: BTreeSet<_> =
        published.clone().filter_map(|package| package["name"].as_str()).collect();
    assert_eq!(names, BTreeSet::from(["plant-store-client", "plant-store-server"]));
    assert!(published.clone().all(|package| package["license"] == "MIT"));
    let [client, server] = PUBLISHED.map(|package| text(package, "LICENSE"));
    assert!(client.starts_with("MIT License\n\nCopyright (c) "), "{client}");
    assert_eq!(client, server);
}

#[test]
fn changelog_begins_with_the_version_of_the_package() {
    for package in PUBLISHED {
        let readme = text(package, "README.md");
        let (_, changelog) = readme.split_once("\n## Changelog\n").expect("a changelog");
        let release = changelog.lines().find_map(|line| line.strip_prefix("### "));
        assert_eq!(release, Some(env!("CARGO_PKG_VERSION")), "{package}");
    }
}
