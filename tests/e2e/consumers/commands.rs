//! The commands of `plants`: their output, their exit codes, and how they reach the service.

use std::os::unix::fs::{PermissionsExt, chown};

use nix::unistd::geteuid;
use plant_store_tests::prelude::*;
use plant_store_tests::tls::{Authority, serving};

use super::{Scripted, plants, refusal, response, write};

const CREATE: &str = "create-plant --id 1 --name Fern";
const MONSTERA: &str = "create-plant --id -7 --name Monstera --tag -x";
const ACCEPTED: &str = "{\"accepted\":true}\n";

/// Nobody listens there.
const PROXY: &str = "http://user:secret@127.0.0.1:1";

/// The words of a command, its variables, and a part of its stderr.
type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

/// A file overrides the variable with a token, and an empty variable counts as unset. An address of
/// this machine bypasses the proxy of the environment. Only the first plant is created.
#[test]
fn command_ends_with_its_output_and_its_exit_code() {
    let server = Server::start();
    let token = &server.token;
    write(&server, "token", format!("{token}\n"));
    fs::set_permissions(server.folder().join("token"), fs::Permissions::from_mode(0o600))
        .expect("the file is ours");
    let created = "{\"name\":\"Monstera\",\"tag\":\"-x\"}\n";
    let local = format!("check-token --url http://localhost:{}", server.address.port());
    let proxies = [("http_proxy", PROXY), ("ALL_PROXY", PROXY)];
    let outside = "check-token --url http://plants.example.org";
    let succeed: &[Row<'_>] = &[
        (MONSTERA, &[], ""),
        (MONSTERA, &[], ""),
        ("check-token", &[], ""),
        (&local, &proxies, ""),
        ("check-token", &proxies, ""),
        ("check-token --token-file token", &[("PLANTS_TOKEN", "pst_")], ""),
        ("check-token", &[("PLANTS_TOKEN_FILE", "")], ""),
        ("check-token", &[("PLANTS_TOKEN", "pst_"), ("PLANTS_TOKEN_FILE", "token")], ""),
    ];
    let fail: &[Row<'_>] = &[
        ("create-plant --id -7 --name Fern", &[], "{\"error\":409,\"message\":\"plant -7 "),
        (MONSTERA, &[("PLANTS_TOKEN", "pst_")], "{\"error\":401,"),
        ("import .", &[], "Is a directory"),
        ("check-token", &[("PLANTS_TOKEN", "pst_")], "\"error\":401"),
        ("check-token --url http://127.0.0.1:1", &[], "Connection refused"),
        (outside, &proxies, "plants.example.org"),
    ];
    let wrong: &[Row<'_>] = &[
        ("create-plant --id 1", &[], "--name"),
        ("create-plant --id 007 --name Fern", &[], "007"),
        ("create-plant --json-body none.json", &[], "none.json"),
        ("create-plant --json-body token --tag indoor", &[], "--json-body"),
        (&format!("{CREATE} --url plants:80"), &[], "--url or PLANTS_URL"),
        (&format!("{CREATE} --url http://u:secret@plants"), &[], "user"),
        (&format!("{CREATE} --url pst_secret"), &[], "http://HOST:PORT"),
        ("import none.jsonl", &[], "none.jsonl"),
        ("check-token", &[("PLANTS_TOKEN", "a b")], "cannot use PLANTS_TOKEN"),
        ("check-token --token-file none", &[], "none"),
        ("check-token", &[("PLANTS_TOKEN", "")], "there is no token"),
        ("check-token", &[("PLANTS_TOKEN_FILE", "none")], "none"),
    ];
    for (code, table) in [(0, succeed), (1, fail), (2, wrong)] {
        each_row(table, |(words, variables, stderr)| {
            let ended = run(plants(&server, words).envs(variables.iter().copied()));
            let stdout = match code {
                0 if *words == MONSTERA => created,
                0 => ACCEPTED,
                _ => "",
            };
            ended.expect(code, stdout, stderr);
            assert!(
                ![token, "secret"].iter().any(|text| ended.stderr.contains(*text)),
                "{ended:?}"
            );
        });
    }
    assert!(server.export().into_keys().eq([-7]));
}

/// The service refuses each of these bodies, except that it ignores the unknown member: its value
/// would be lost.
#[test]
fn both_commands_refuse_a_body_that_is_not_exactly_a_plant() {
    let server = Server::start();
    let table = [
        (r#"[1,"Fern","x"]"#, "object"),
        (r#"{"id":1,"name":"Fern","tags":"indoor"}"#, "`tags`"),
        (r#"{"id":1,"name":"Fern","tag":null}"#, "`tag`"),
        (r#"{"id":1,"name":"Fern","name":"Fern"}"#, "`name`"),
        (r#"{"id":1,"name":"Fern"} {}"#, "column "),
        (r#"{"id":1.0,"name":"Fern"}"#, "`1.0`"),
    ];
    each_row(table, |(body, expected)| {
        write(&server, "plant.json", body);
        let create = "create-plant --json-body plant.json";
        run(&mut plants(&server, create)).expect(2, "", expected);
        let imported = run(&mut plants(&server, "import plant.json"));
        imported.expect(1, &format!("{body}\n"), expected);
        assert!(imported.stderr.starts_with("plant.json:1: "), "{imported:?}");
    });
    assert!(server.export().is_empty());
    // Windows programs write a byte order mark.
    write(&server, "plant.json", "\u{feff}{\n  \"id\": 1,\r\n  \"name\": \"Fern\"\n}\n");
    let create = "create-plant --json-body plant.json";
    run(&mut plants(&server, create)).expect(0, "{\"name\":\"Fern\"}\n", "");
}

/// Responses that prove nothing: a login page, and a refusal that does not concern the token.
#[test]
fn check_token_accepts_only_what_proves_the_token() {
    let server = Server::start();
    let table = [
        (response("200 OK", "", "<html>Log in</html>"), "200 OK"),
        (response("400 Bad Request", "", "<html>Bad request</html>"), "<html>Bad request</html>"),
        (refusal(503, ""), "\"error\":503"),
    ];
    each_row(table, |(answer, expected)| {
        let proxy = Scripted::start(&[answer]);
        let mut check = plants(&server, "check-token");
        run(check.env("PLANTS_URL", proxy.url)).expect(1, "", expected);
    });
}

#[test]
fn private_authority_is_trusted() {
    let (server, authority) = serving();
    write(&server, "ca.pem", authority.pem());
    write(&server, "stranger.pem", Authority::new().pem());
    let table = [
        ("ca.pem", 0, ""),
        ("stranger.pem", 1, "certificate"),
        ("plants.key", 2, "--ca-file"),
        ("none", 2, "--ca-file"),
    ];
    each_row(table, |(file, code, stderr)| {
        let stdout = if code == 0 { ACCEPTED } else { "" };
        let by_flag = run(&mut plants(&server, &format!("check-token --ca-file {file}")));
        by_flag.expect(code, stdout, stderr);
        let by_variable = run(plants(&server, "check-token").env("PLANTS_CA_FILE", file));
        by_variable.expect(code, stdout, stderr);
    });
}

/// Only root can give a file to another user, so other users look at a file of root that everybody
/// can read. It contains no token of this store.
#[test]
fn token_file_readable_by_others_must_belong_to_root() {
    let server = Server::start();
    write(&server, "token", &server.token);
    let file = server.folder().join("token");
    if geteuid().is_root() {
        chown(&file, Some(65534), None).expect("root may change the owner");
    }
    let check = |file: &str| run(&mut plants(&server, &format!("check-token --token-file {file}")));
    for mode in [0o640, 0o604, 0o444] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("the file is ours");
        check("token").expect(2, "", "chmod 600");
    }
    check("/etc/hostname").expect(1, "", "\"error\":401");
}

#[test]
fn terminal_gets_a_line_without_control_characters() {
    let server = Server::start();
    let create =
        |name: &str| on_a_terminal(plants(&server, "create-plant --id 1 --name").arg(name));
    assert_eq!(create("Fern\u{1b}[2J\u{9b}"), "{\"name\":\"Fern\\u001b[2J\\u009b\"}\r\n");
    let refused = create("Ficus");
    assert!(refused.starts_with("plants: refused with 409: plant 1 "), "{refused:?}");
}

#[test]
fn output_that_cannot_be_written_exits_1() {
    let server = Server::start();
    write(&server, "plants.jsonl", "Fern\n".repeat(1000));
    each_row([CREATE, "check-token", "import plants.jsonl"], |words| {
        let ended = run(&mut to_full_device(&plants(&server, words)));
        ended.expect(1, "", "No space left on device");
    });
}
