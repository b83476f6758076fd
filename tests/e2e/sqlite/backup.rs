//! `plant-store backup`: what it makes, what it removes, and what it refuses.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use plant_store_tests::{Server, binary_in, plant, run};
use serde_json::Value;
use tempfile::TempDir;

use crate::database::STORE;
use crate::operators::killed::before_each_call;
use crate::operators::{copy_of, files, names};
use crate::without_store::words::unprivileged;

/// What is in a folder of backups beside them.
const LIST: &str = "plant-store-backups.json";

/// A folder for backups, and how they are made there.
struct Backups {
    root: TempDir,
}

impl Backups {
    /// Of that server's store.
    fn of(server: &Server) -> Self {
        let backups = Self { root: TempDir::new().expect("a temporary folder") };
        let begun = backups.make(server, &["--init"]);
        assert!(begun.status.success(), "{}", said(&begun));
        backups
    }

    fn folder(&self) -> String {
        self.root.path().join("backups").display().to_string()
    }

    /// Runs the command.
    fn make(&self, server: &Server, flags: &[&str]) -> Output {
        let mut command = binary_in(server.folder());
        command.args(["backup", &self.folder(), "--store", server.store()]).args(flags);
        command.output().expect("the binary starts")
    }

    /// The same, which must fail. Returns what it says.
    fn refused(&self, server: &Server, flags: &[&str]) -> String {
        let output = self.make(server, flags);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        said(&output)
    }

    /// The same, which must succeed.
    fn made(&self, server: &Server, flags: &[&str]) {
        let output = self.make(server, flags);
        assert!(output.status.success(), "{}", said(&output));
    }

    /// The names of all files but the list.
    fn names(&self) -> Vec<String> {
        names(self.folder().as_ref(), "plant-store-2")
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server with plants of these ids.
fn with_plants(ids: std::ops::Range<i64>) -> Server {
    let server = Server::start();
    ids.for_each(|id| drop(server.create(&plant(id, "Ficus", None)).plant()));
    server
}

#[test]
fn backup_has_every_plant_and_token_and_the_last_ones_stay() {
    let server = with_plants(0..1);
    let backups = Backups::of(&server);
    for id in 1..4 {
        server.create(&plant(id, "Ficus", None)).plant();
        backups.made(&server, &["--keep", "2"]);
    }
    let kept = backups.names();
    assert_eq!(kept.len(), 2, "{kept:?}");
    let last = format!("sqlite:{}/{}", backups.folder(), kept[1]);
    assert_eq!(server.command(&["export", "--store", &last]), server.command(&["export"]));
    let tokens = |store: &str| server.command(&["token", "list", "--store", store]);
    assert_eq!(tokens(&last), tokens(server.store()));
    let all: Vec<_> = files(backups.folder().as_ref()).into_keys().collect();
    assert_eq!(all.len(), 3, "the backups and the list: {all:?}");
}

/// The clock was set back, and other files have names of this kind.
#[test]
fn backup_removes_neither_what_it_has_just_made_nor_what_it_has_not_made() {
    let server = with_plants(0..1);
    let backups = Backups::of(&server);
    let theirs = ["plant-store-2999-01-01T000000Z.db", "plant-store-2000-01-01T000000Z.db"];
    let theirs = theirs.map(|name| format!("{}/{name}", backups.folder()));
    for file in &theirs {
        fs::write(file, "somebody's").expect("a file");
    }
    for _ in 0..3 {
        let output = backups.make(&server, &["--keep", "1"]);
        let made = String::from_utf8(output.stdout).expect("text");
        let made = made.split(' ').nth(2).expect("a file").to_owned();
        assert!(fs::exists(&made).expect("the folder is there"), "{made}");
    }
    assert_eq!(backups.names().len(), 3);
    for file in theirs {
        assert_eq!(fs::read(file).expect("the file"), b"somebody's");
    }
}

#[test]
fn store_with_fewer_plants_is_copied_and_nothing_is_removed_unless_that_is_accepted() {
    let server = with_plants(0..3);
    let backups = Backups::of(&server);
    backups.made(&server, &[]);
    let list = format!("{}/{LIST}", backups.folder());
    let text = fs::read_to_string(&list).expect("the list");
    fs::write(&list, text.replace("\"plants\": 3", "\"plants\": 4")).expect("the list");
    for count in 2..4 {
        let said = backups.refused(&server, &["--keep", "1"]);
        assert!(said.contains("had 4 plants") && said.contains("backup --fewer"), "{said}");
        assert_eq!(backups.names().len(), count, "the copy stays, and the older ones");
    }
    backups.made(&server, &["--keep", "1", "--fewer"]);
    assert_eq!(backups.names().len(), 1);
    backups.made(&server, &[]);
}

/// A disk that is not mounted is an empty folder.
#[test]
fn folder_that_was_not_begun_or_is_of_another_store_is_refused() {
    let server = with_plants(0..1);
    let backups = Backups::of(&server);
    let other = Server::start();
    let said = backups.refused(&other, &[]);
    assert!(said.contains("take a folder for each store"), "{said}");
    let said = backups.refused(&other, &["--init"]);
    assert!(said.contains("take a folder for each store"), "{said}");
    backups.made(&server, &["--init"]);
    backups.made(&server, &[]);
    fs::remove_dir_all(backups.folder()).expect("it is ours");
    let said = backups.refused(&server, &[]);
    assert!(said.contains("is the disk mounted?") && said.contains("backup --init"), "{said}");
    fs::create_dir(backups.folder()).expect("a folder");
    backups.refused(&server, &[]);
    assert!(files(backups.folder().as_ref()).is_empty());
}

#[test]
fn folder_that_cannot_be_read_is_not_taken_for_one_that_is_not_there() {
    let server = with_plants(0..1);
    let backups = Backups::of(&server);
    fs::set_permissions(backups.folder(), Permissions::from_mode(0o000)).expect("it is ours");
    let mut command = unprivileged(server.folder());
    command.args(["backup", &backups.folder(), "--store", server.store()]);
    let said = said(&command.output().expect("the binary starts"));
    assert!(said.contains("Permission denied") && !said.contains("--init"), "{said}");
}

#[test]
fn time_of_the_backup_is_a_metric_with_the_store_and_a_file_of_another_store_is_left() {
    let server = with_plants(0..1);
    let backups = Backups::of(&server);
    let metrics = format!("{}/backup.prom", backups.root.path().display());
    for _ in 0..2 {
        backups.made(&server, &["--metrics", &metrics]);
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
    let said = Backups::of(&other).refused(&other, &["--metrics", &metrics]);
    assert!(said.contains("the time of another store") && said.contains("is made"), "{said}");
    assert_eq!(fs::read_to_string(&metrics).expect("the metrics"), text);
}

#[test]
fn second_backup_at_the_same_time_is_refused() {
    let server = with_plants(0..1);
    let backups = Backups::of(&server);
    let folder = fs::File::open(backups.folder()).expect("a folder");
    folder.lock().expect("a lock");
    let said = backups.refused(&server, &[]);
    assert!(said.contains("another backup into"), "{said}");
}

/// After each kill every backup of the list is whole, and the next backup removes what is not.
#[test]
fn backup_that_is_killed_at_any_call_can_be_run_again() {
    let server = with_plants(0..3);
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
        assert!(output.status.success(), "{}", said(&output));
    };
    before_each_call(
        || copy_of(template.path()),
        |folder| backup(folder, &["--init"]),
        |folder| {
            succeeds(folder, &["--init"]);
            assert_eq!(files(folder).into_keys().collect::<Vec<_>>(), [LIST], "and nothing else");
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
    let are_whole = |folder: &Path| {
        for name in listed(folder) {
            if !folder.join(&name).exists() {
                // It was removed when the new one was there.
                continue;
            }
            let read = run(folder, &["export", "--store", &format!("sqlite:{name}")]);
            assert_eq!(String::from_utf8_lossy(&read.stdout), exported, "{name}");
        }
        let time = fs::read_to_string(folder.join("backup.prom")).expect("the time");
        assert!(time.contains("\nplant_store_backup_timestamp_seconds{store="), "{time}");
    };
    before_each_call(
        || copy_of(template.path()),
        |folder| backup(folder, &metrics),
        |folder| {
            are_whole(folder);
            succeeds(folder, &metrics);
            are_whole(folder);
            assert_eq!(theirs(folder).expect("it stays"), b"theirs");
            assert_eq!(names(folder, "backup.prom").len(), 1, "{:?}", names(folder, ""));
            assert_eq!(names(folder, "plant-store-202"), listed(folder), "and no part of one");
            assert_eq!(listed(folder).len(), 2);
        },
    );
}
