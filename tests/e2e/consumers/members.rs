//! Members that the contract does not have: the service would ignore them.

use plant_store_tests::Server;

use super::import::{Reason, counts, reasons};
use super::{Ran, plants, run, write};

const MISTYPED: &str = r#"{"id":1,"name":"Fern","tags":"indoor"}"#;
const REFUSAL: &str = "`tags` is no member of a plant: correct it, or add --ignore-unknown";

/// Otherwise the plant is stored without what the member says, and the corrected line gets 409.
#[test]
fn import_refuses_a_member_that_the_contract_does_not_have_and_the_corrected_line_is_created() {
    let server = Server::start();
    write(&server, "plants.jsonl", MISTYPED);
    let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!((status, counts(&printed)), (Some(1), [0, 1, 0]), "{said}");
    let expected = [Reason { line: 1, error: Some(400), message: REFUSAL.to_owned() }];
    assert_eq!(reasons(&server, "plants.jsonl.rejected"), expected);
    assert!(server.export().is_empty());
    write(&server, "plants.jsonl", MISTYPED.replace("tags", "tag"));
    let Ran { status, said, .. } = run(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!((status, said.as_str()), (Some(0), ""));
    assert_eq!(server.export()[&1].tag.as_deref(), Some("indoor"));
}

#[test]
fn import_with_ignore_unknown_creates_plants_without_the_members_that_the_contract_does_not_have() {
    let server = Server::start();
    write(&server, "plants.jsonl", MISTYPED);
    write(&server, "plants.csv", "tags,name,size,id\nindoor,Ficus,\"a,b\",2\n");
    for (file, id) in [("plants.jsonl", 1), ("plants.csv", 2)] {
        let import = ["import", file, "--ignore-unknown"];
        let Ran { status, printed, said } = run(&mut plants(&server, &import));
        assert_eq!((status, counts(&printed)), (Some(0), [1, 0, 0]), "{said}");
        assert_eq!(server.export()[&id].tag, None);
    }
}
