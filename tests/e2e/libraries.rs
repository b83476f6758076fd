//! The libraries: the tests that every service runs, on the plant store, and that the libraries
//! know no service. The goose farm is a second one, whose own folder has its tests.

use groundwork_testing::Suite;
use plant_store_tests::prelude::*;
use plant_store_tests::{GOOSE_FARM, PLANT_STORE};

#[test]
fn answers_match_the_document() {
    Suite::new(&*PLANT_STORE).assert_answers_match_the_document();
}

#[test]
fn sigkill_loses_nothing_that_was_answered() {
    Suite::new(&*PLANT_STORE).assert_sigkill_loses_nothing();
}

/// The pages of the libraries name the folder of the second service, and nothing else does.
#[test]
fn libraries_name_no_service() {
    let words =
        ["-rniE", "plant|goose|geese|pst_|gse_", "server/kit", "server/store", "client/kit"];
    let found = run(Command::new("grep").args(words).current_dir(root())).succeeded();
    assert!(found.contains("tests/goose-farm"), "grep looks at the pages");
    let found: Vec<_> = found.lines().filter(|line| !line.contains("tests/goose-farm")).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn all_names_follow_from_the_program() {
    let folder = TempDir::new().expect("a temporary folder");
    let goose_farm = |words: &str| {
        let mut command = Command::new(&*GOOSE_FARM);
        command.args(words.split(' ')).current_dir(&folder).stderr(Stdio::null());
        command
    };
    let serve = "serve --listen 127.0.0.1:0 --metrics 127.0.0.1:0 --store sqlite:goose-farm.db";
    let launched = Launched::start(&mut goose_farm(serve)).expect("it serves");
    assert!(launched.token.as_ref().is_some_and(|token| token.starts_with("gse_")), "the prefix");
    assert!(folder.path().join("goose-farm.db").exists());
    let help = |command: &str| run(&mut goose_farm(&format!("{command} --help"))).succeeded();
    assert!(help("serve").contains("[env: GOOSE_FARM_MAX_BODY="));
    assert!(run(&mut goose_farm("--help")).succeeded().contains("goose farm"));
    let help = ["serve", "token", "export", "copy", "check"].map(|command| {
        let help = help(command);
        assert!(!help.contains('{') && !help.contains("plant"), "{help}");
        help
    });
    assert!(help.concat().contains("geese"));
}
