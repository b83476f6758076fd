//! The command line and its environment variables: what they accept, what they refuse, and what no
//! message may contain.

use plant_store_tests::prelude::*;

use super::commit;
use super::starts::refused;
use crate::database::STORE;

/// A message names the flag, if there is one.
#[test]
fn wrong_command_line_exits_2_and_leaves_nothing() {
    let table = [
        "",
        "plant",
        "serve --plant",
        "serve --tls-cert plants.pem",
        "serve --tls-key plants.key",
        "serve --listen 8080",
        "serve --metrics 8080",
        "serve --store plants.db",
        "serve --store sqlite::memory:",
        "serve --store sqlite:plants.db?mode=ro",
        "serve --max-creates 0",
        "serve --max-body 129MiB",
        "serve --body-timeout 0s",
        "serve --log-level loud",
        "check --store postgres://db/plants?sslmode=verify-full",
        "token create x --expires-in tomorrow",
        "token create é",
        "token revoke",
    ];
    each_row(table, |words| {
        let stderr = refused(words, &[], 2);
        let flag = words.split(' ').find(|word| word.starts_with("--")).unwrap_or_default();
        assert!(!stderr.is_empty() && stderr.contains(flag), "{stderr}");
    });
}

/// The drift check compares what `openapi` prints.
#[test]
fn version_names_the_commit() {
    let folder = TempDir::new().expect("a temporary folder");
    let printed = run(&mut binary_in(folder.path(), "--version")).succeeded();
    assert!(printed.contains(&commit()), "{printed}");
}

#[test]
fn messages_contain_no_password_and_no_token() {
    let urls = [
        "postgres:ada:secret@db.example/plants",
        "postgres://ada:secret/plants",
        "postgres://ada@db.example/plants?password=a&secret=b",
        "secret-host=db.example",
    ];
    let rows = urls.iter().flat_map(|url| {
        [
            (format!("copy --from sqlite:x.db --to sqlite:y.db --tokens {url}"), ""),
            (format!("copy --from sqlite:plants.db --to {url} --tokens none"), ""),
            (format!("serve --store {url}"), ""),
            ("serve".to_owned(), *url),
        ]
    });
    let pasted = ["token pst_secret", "token list pst_secret", "serve --listen pst_secret"];
    let pasted = pasted.map(|words| (words.to_owned(), ""));
    each_row(rows.chain(pasted), |(words, variable)| {
        let stderr = refused(&words, &[("PLANT_STORE_STORE", variable)], 2);
        assert!(!stderr.contains("secret"), "{stderr}");
    });
    let mut help = binary_in(&std::env::temp_dir(), "serve --help");
    help.env("PLANT_STORE_STORE", "postgres://ada:secret@db/plants");
    assert!(!run(&mut help).succeeded().contains("secret"));
}

/// An empty variable counts as unset: a line of `plant-store.env` without a value sets it. The
/// limits in force are logged. The soft limit of open files is raised.
#[test]
fn flag_overrides_its_environment_variable() {
    let ficus = plant(1, "Ficus", None);
    let variables = [
        ("STORE", "sqlite:variable.db"),
        ("MAX_BODY", "1kB"),
        ("BODY_TIMEOUT", "1m 30s"),
        ("STORE_CA", ""),
        ("MAX_CREATES", ""),
        ("METRICS", ""),
        ("NO_CREATE", ""),
        ("TLS_CERT", ""),
    ];
    let server = Server::starting()
        .command(|command| {
            command.envs(variables.map(|(name, value)| (format!("PLANT_STORE_{name}"), value)));
        })
        .with(&["--max-body", &ficus.len().to_string()])
        .with_open_files("-Sn 64")
        .start();
    assert_eq!(server.create(&plant(1, "Monstera deliciosa", None)).error(), 413);
    server.create(&ficus).plant();
    assert!(server.folder().join("variable.db").exists());
    assert!(!server.folder().join(STORE).exists());
    let limits = server.record(|record| record["max_creates"].is_number());
    assert_eq!((&limits["max_creates"], &limits["max_body"]), (&1024.into(), &ficus.len().into()));
    for (name, expected) in
        [("body_timeout", "1m 30s"), ("store_timeout", "5s"), ("shutdown_timeout", "10s")]
    {
        assert_eq!(limits[name], expected);
    }
    // The hard limit depends on the user who runs the tests.
    assert!(limits["open_files"].as_u64() > Some(64), "{limits}");
}
