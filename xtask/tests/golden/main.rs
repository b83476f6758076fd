//! The drift check of the plant store: the checked-in files must be the files that the code
//! generates. With `EXPECTORATE=overwrite`, which `cargo xtask generate` sets, the test overwrites
//! them instead.
//!
//! A service prints its published document, and the client, its mocks and its commands are
//! generated from the document. The values of `error` are inserted into a page.

mod errors;

use groundwork_testing::{Part, Suite, assert_between_markers, generate};
use xtask::checkout::{DOCUMENT, build, root};

#[test]
fn plant_store_is_up_to_date() {
    let suite = Suite::new(build("--bin", "plant-store").expect("the program builds"));
    let client = root().join("client/src/generated.rs");
    let document = suite.assert_up_to_date(root().join(DOCUMENT), client);
    let rows = errors::rows(&document).expect("the document has a table of errors");
    let table = errors::table(&rows);
    assert_contents("client/src/mock.rs", &generate(Part::Mock, &document));
    assert_contents("client/src/cli/generated.rs", &generate(Part::Commands, &document));
    assert_between_markers(root().join("server/WIRE.md"), "errors", &table);
}

fn assert_contents(path: &str, text: &str) {
    expectorate::assert_contents(root().join(path), text);
}
