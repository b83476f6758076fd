//! The goose farm: `POST /geese` and `PUT /geese/{id}` add a goose, and `GET /geese/{id}` returns
//! it.
//!
//! This is a second service on `groundwork`. Everything that it says about itself is in this crate.

mod operations;
mod types;

use std::process::ExitCode;

use groundwork::{ErrorRow, Example, Info, JsonText, Names, RefusalStatus, Service, Version};

use crate::types::{Goose, NewGoose};

static GOOSE_FARM: Service = Service {
    names: Names { program: "goose-farm", table: "geese", application_id: *b"GSE" },
    resource: "goose",
    token_prefix: "gse_",
    version: env!("CARGO_PKG_VERSION"),
    commit: groundwork::commit!(),
    about: "Run and maintain a goose farm: POST /geese adds a goose durably",
    info: Info {
        title: "Goose Farm",
        version: Version::new(1, 0, 0),
        description: "A sample goose farm: authenticated clients add geese to it.",
        license: "MIT",
        license_url: "https://opensource.org/license/mit",
    },
    api: operations::api,
    idempotent: &["add_goose"],
    errors: &[
        ErrorRow {
            error: 403,
            retryable: false,
            meaning: "the token is a visitor's, which may only read",
            example: "visitors may look at geese, but not add any",
        },
        ErrorRow {
            error: 404,
            retryable: false,
            meaning: "there is no goose with this number",
            example: "there is no goose 1",
        },
        ErrorRow {
            error: 422,
            retryable: false,
            meaning: "the goose cannot be right",
            example: "a goose of 42000 g is too heavy: weigh it again",
        },
    ],
    refusal_status: RefusalStatus::SameAsError,
    example: Example {
        path: "/geese",
        body: || JsonText::new(&NewGoose::example()).to_string(),
        refused: "missing field `name` at line 1 column 8",
    },
    is_resource: JsonText::<Goose>::is_valid,
};

fn main() -> ExitCode {
    groundwork::main(&GOOSE_FARM)
}
