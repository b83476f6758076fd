//! Files that are not UTF-8 are reported once, with the command that converts them.

use plant_store_tests::Server;

use super::import::import;
use super::{Finished, plants, run, write};

const TEXT: &str = "{\"id\":1,\"name\":\"Fern\"}\n";
const CSV: &str = "id,name\r\n1,Fern\r\n";

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

fn utf_32(text: &str) -> Vec<u8> {
    text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect()
}

#[test]
fn file_that_is_not_utf_8_is_refused_with_advice() {
    let server = Server::start();
    let marked = |text: &str| format!("\u{feff}{text}");
    for text in [TEXT, CSV] {
        for (bytes, expected) in [
            (utf_16(text, u16::to_le_bytes), "iconv -f UTF-16LE"),
            (utf_16(text, u16::to_be_bytes), "it contains a NUL"),
            (
                utf_16(&marked(text), u16::to_le_bytes),
                "it is UTF-16; pipe it through `iconv -f UTF-16 -t",
            ),
            (
                utf_16(&marked(text), u16::to_be_bytes),
                "it is UTF-16; pipe it through `iconv -f UTF-16 -t",
            ),
            (utf_32(&marked(text)), "it is UTF-32; pipe"),
            (utf_32(text), "it contains a NUL"),
            (b"\x1f\x8b\x08\0\0".to_vec(), "gzip; pipe it through `zcat`, and pass - as the file"),
            (b"BZh91AY".to_vec(), "bzip2"),
            (b"\xfd7zXZ\0".to_vec(), "xz"),
            (b"\x28\xb5\x2f\xfd\0".to_vec(), "zstd"),
            (b"PK\x03\x04\x14\0".to_vec(), "save it as \"CSV UTF-8\""),
            (b"\xd0\xcf\x11\xe0".to_vec(), "workbook"),
        ] {
            write(&server, "plants.x", bytes);
            for arguments in [
                &["import", "plants.x"][..],
                &["import", "plants.x", "--format", "csv"],
                &["create-plant", "--json-body", "plants.x"],
            ] {
                let Finished { exit_code, stdout, stderr } = run(&mut plants(&server, arguments));
                assert_eq!((exit_code, stdout.as_str()), (Some(2), ""), "{arguments:?}: {stderr}");
                assert!(stderr.contains("read plants.x: it is "), "{arguments:?}: {stderr}");
                assert!(stderr.contains(expected) && stderr.lines().count() == 1, "{stderr}");
            }
        }
    }
    assert!(server.export().is_empty());
}

/// Only a letter outside ASCII distinguishes Windows-1252 from UTF-8.
#[test]
fn line_in_windows_1252_is_rejected_with_advice() {
    let server = Server::start();
    for (name, text) in [
        ("plants.jsonl", &b"{\"id\":1,\"name\":\"Fern\"}\n{\"id\":2,\"name\":\"Caf\xe9\"}\n"[..]),
        ("plants.csv", b"id,name\n1,Fern\n2,Caf\xe9\n"),
    ] {
        write(&server, name, text);
        let imported = import(&mut plants(&server, &["import", name]));
        assert_eq!((imported.exit_code, imported.counts), (Some(1), [1, 1, 0]), "{imported:?}");
        let message = &imported.rejected[0].message;
        assert!(message.contains("iconv -f WINDOWS-1252 -t UTF-8"), "{message}");
    }
}
