//! `plant-store backup`: what it creates, what it removes, and what it refuses.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use plant_store_tests::{Server, binary_in, plant, run};
use serde_json::Value;
use tempfile::TempDir;

use crate::database::STORE;
use crate::operators::killed::kill_before_each_call;
use crate::operators::{copy_of, files, names};
use crate::without_store::words::unprivileged;

/// The file beside the backups that lists them.
const LIST: &str = "plant-store-backups.json";

/// A folder for backups.
struct Backups {
    root: TempDir,
}

impl Backups {
    /// Initializes a folder for backups of that server's store.
    fn of(server: &Server) -> Self {
        let backups = Self { root: TempDir::new().expect("a temporary folder") };
        let initialized = backups.run(server, &["--init"]);
        assert!(initialized.status.success(), "{}", stderr_of(&initialized));
        backups
    }

    fn folder(&self) -> String {
        self.root.path().join("backups").display().to_string()
    }

    /// Runs `plant-store backup`.
    fn run(&self, server: &Server, flags: &[&str]) -> Output {
        let mut command = binary_in(server.folder());
        command.args(["backup", &self.folder(), "--store", server.store()]).args(flags);
        command.output().expect("the binary starts")
    }

    /// Runs a backup that must fail, and returns its stderr.
    fn fails(&self, server: &Server, flags: &[&str]) -> String {
        let output = self.run(server, flags);
        assert_eq!(output.status.code(), Some(1), "{}", stderr_of(&output));
        stderr_of(&output)
    }

    /// Runs a backup that must succeed.
    fn succeeds(&self, server: &Server, flags: &[&str]) {
        let output = self.run(server, flags);
        assert!(output.status.success(), "{}", stderr_of(&output));
    }

    /// The names of all files except the list.
    fn names(&self) -> Vec<String> {
        names(self.folder().as_ref(), "plant-store-2")
    }
}

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server with a plant for each of these ids.
fn server_with_plants(ids: std::ops::Range<i64>) -> Server {
    let server = Server::start();
    ids.for_each(|id| drop(server.create(&plant(id, "Ficus", None)).plant()));
    server
}

/// With `--keep 2` the last two backups stay.
#[test]
fn backup_contains_every_plant_and_token() {
    let server = server_with_plants(0..1);
    let backups = Backups::of(&server);
    for id in 1..4 {
        server.create(&plant(id, "Ficus", None)).plant();
        backups.succeeds(&server, &["--keep", "2"]);
    }
    let kept = backups.names();
    assert_eq!(kept.len(), 2, "{kept:?}");
    let last = format!("sqlite:{}/{}", backups.folder(), kept[1]);
    assert_eq!(server.command(&["export", "--store", &last]), server.command(&["export"]));
    let tokens = |store: &str| server.command(&["token", "list", "--store", store]);
    assert_eq!(tokens(&last), tokens(server.store()));
    let all: Vec<_> = files(backups.folder().as_ref()).into_keys().collect();
    assert_eq!(all.len(), 3, "two backups and the list: {all:?}");
}

/// Files of other programs have similar names, one of them from the future: the clock was set back.
#[test]
fn backup_removes_only_older_backups_of_its_own() {
    let server = server_with_plants(0..1);
    let backups = Backups::of(&server);
    let theirs = ["plant-store-2999-01-01T000000Z.db", "plant-store-2000-01-01T000000Z.db"];
    let theirs = theirs.map(|name| format!("{}/{name}", backups.folder()));
    for file in &theirs {
        fs::write(file, "theirs").expect("a file");
    }
    for _ in 0..3 {
        let output = backups.run(&server, &["--keep", "1"]);
        let stdout = String::from_utf8(output.stdout).expect("text");
        let backup = stdout.split(' ').nth(2).expect("a file").to_owned();
        assert!(fs::exists(&backup).expect("the folder exists"), "{backup}");
    }
    assert_eq!(backups.names().len(), 3);
    for file in theirs {
        assert_eq!(fs::read(file).expect("the file"), b"theirs");
    }
}

/// The copy is made all the same, but no older backup is removed.
#[test]
fn backup_of_fewer_plants_fails_until_accepted() {
    let server = server_with_plants(0..3);
    let backups = Backups::of(&server);
    backups.succeeds(&server, &[]);
    let list = format!("{}/{LIST}", backups.folder());
    let text = fs::read_to_string(&list).expect("the list");
    fs::write(&list, text.replace("\"plants\": 3", "\"plants\": 4")).expect("the list");
    for count in 2..4 {
        let stderr = backups.fails(&server, &["--keep", "1"]);
        assert!(stderr.contains("had 4 plants") && stderr.contains("backup --fewer"), "{stderr}");
        assert_eq!(backups.names().len(), count, "the copy and the older backups stay");
    }
    backups.succeeds(&server, &["--keep", "1", "--fewer"]);
    assert_eq!(backups.names().len(), 1);
    backups.succeeds(&server, &[]);
}

/// An unmounted disk looks like an empty folder.
#[test]
fn uninitialized_or_foreign_backup_folder_is_refused() {
    let server = server_with_plants(0..1);
    let backups = Backups::of(&server);
    let other = Server::start();
    let stderr = backups.fails(&other, &[]);
    assert!(stderr.contains("use a separate folder for each store"), "{stderr}");
    let stderr = backups.fails(&other, &["--init"]);
    assert!(stderr.contains("use a separate folder for each store"), "{stderr}");
    backups.succeeds(&server, &["--init"]);
    backups.succeeds(&server, &[]);
    fs::remove_dir_all(backups.folder()).expect("it is ours");
    let stderr = backups.fails(&server, &[]);
    assert!(
        stderr.contains("Is its disk mounted?") && stderr.contains("backup --init"),
        "{stderr}"
    );
    fs::create_dir(backups.folder()).expect("a folder");
    backups.fails(&server, &[]);
    assert!(files(backups.folder().as_ref()).is_empty());
}

#[test]
fn unreadable_backup_folder_is_not_reported_as_missing() {
    let server = server_with_plants(0..1);
    let backups = Backups::of(&server);
    fs::set_permissions(backups.folder(), Permissions::from_mode(0o000)).expect("it is ours");
    let mut command = unprivileged(server.folder());
    command.args(["backup", &backups.folder(), "--store", server.store()]);
    let stderr = stderr_of(&command.output().expect("the binary starts"));
    assert!(stderr.contains("Permission denied") && !stderr.contains("--init"), "{stderr}");
}

/// The metric names the store, and a file with the time of another store is left unchanged.
#[test]
fn backup_writes_its_time_as_a_metric() {
    let server = server_with_plants(0..1);
    let backups = Backups::of(&server);
    let metrics = format!("{}/backup.prom", backups.root.path().display());
    for _ in 0..2 {
        backups.succeeds(&server, &["--metrics", &metrics]);
    }
    let text = fs::read_to_string(&metrics).expect("the metrics");
    let list = fs::read(format!("{}/{LIST}", backups.folder()));
    let list: Value = serde_json::from_slice(&list.expect("the list")).expect("JSON");
    let series = format!("\nplant_store_backup_timestamp_seconds{{store={}}} 1", list["store"]);
    assert!(text.contains(&series), "{text}");
    // As Prometheus escapes the value of a label.
    let quoted = format!("sqlite:{}/a\"b.db", backups.root.path().display());
    let folder = format!("{}/quoted", backups.root.path().display());
    let metrics_of_quoted = format!("{folder}.prom");
    server.command(&["copy", "--from", server.store(), "--to", &quoted]);
    let backup = ["backup", &folder, "--store", &quoted];
    server.command(&[&backup[..], &["--init"]].concat());
    server.command(&[&backup[..], &["--metrics", &metrics_of_quoted]].concat());
    let text_of_quoted = fs::read_to_string(metrics_of_quoted).expect("the metrics");
    assert!(text_of_quoted.contains(r#"/a\"b.db"} 1"#), "{text_of_quoted}");
    let other = Server::start();
    let stderr = Backups::of(&other).fails(&other, &["--metrics", &metrics]);
    assert!(
        stderr.contains("the time of another store") && stderr.contains("is complete"),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(&metrics).expect("the metrics"), text);
}

#[test]
fn concurrent_backup_is_refused() {
    let server = server_with_plants(0..1);
    let backups = Backups::of(&server);
    let folder = fs::File::open(backups.folder()).expect("a folder");
    folder.lock().expect("a lock");
    let stderr = backups.fails(&server, &[]);
    assert!(stderr.contains("another backup into"), "{stderr}");
}

/// After each kill every listed backup is complete, and the next backup removes incomplete files.
#[test]
fn killed_backup_can_be_run_again() {
    let server = server_with_plants(0..3);
    let exported = server.command(&["export"]);
    let store = format!("sqlite:{}", server.folder().join(STORE).display());
    let template = TempDir::new().expect("a temporary folder");
    let backup = |folder: &Path, flags: &[&str]| -> Command {
        let mut command = binary_in(folder);
        command.args(["backup", ".", "--store", &store, "--keep", "2"]).args(flags);
        command
    };
    let succeeds = |folder: &Path, flags: &[&str]| {
        let output = backup(folder, flags).output().expect("it runs");
        assert!(output.status.success(), "{}", stderr_of(&output));
    };
    kill_before_each_call(
        || copy_of(template.path()),
        |folder| backup(folder, &["--init"]),
        |folder| {
            succeeds(folder, &["--init"]);
            assert_eq!(files(folder).into_keys().collect::<Vec<_>>(), [LIST], "no other file");
        },
    );

    let metrics = ["--metrics", "backup.prom"];
    succeeds(template.path(), &["--init"]);
    succeeds(template.path(), &metrics);
    succeeds(template.path(), &metrics);
    fs::write(template.path().join("plant-store-2000-01-01T000000Z.db"), "theirs").expect("a file");
    let theirs = |folder: &Path| fs::read(folder.join("plant-store-2000-01-01T000000Z.db"));
    let listed = |folder: &Path| -> Vec<String> {
        let list = fs::read(folder.join(LIST)).expect("the list");
        let list: Value = serde_json::from_slice(&list).expect("JSON");
        let names = list["backups"].as_array().expect("names").iter();
        names.map(|name| name.as_str().expect("text").to_owned()).collect()
    };
    let check_backups = |folder: &Path| {
        for name in listed(folder) {
            if !folder.join(&name).exists() {
                // The backup was removed after a newer one was complete.
                continue;
            }
            let read = run(folder, &["export", "--store", &format!("sqlite:{name}")]);
            assert_eq!(String::from_utf8_lossy(&read.stdout), exported, "{name}");
        }
        let time = fs::read_to_string(folder.join("backup.prom")).expect("the time");
        assert!(time.contains("\nplant_store_backup_timestamp_seconds{store="), "{time}");
    };
    kill_before_each_call(
        || copy_of(template.path()),
        |folder| backup(folder, &metrics),
        |folder| {
            check_backups(folder);
            succeeds(folder, &metrics);
            check_backups(folder);
            assert_eq!(theirs(folder).expect("the file stays"), b"theirs");
            assert_eq!(names(folder, "backup.prom").len(), 1, "{:?}", names(folder, ""));
            assert_eq!(names(folder, "plant-store-202"), listed(folder), "no incomplete backup");
            assert_eq!(listed(folder).len(), 2);
        },
    );
}
