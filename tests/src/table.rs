//! Tables of cases.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Checks every row of a table. Then fails with the name and the message of each row that failed.
pub fn each_row<R, N: ToString>(
    rows: impl IntoIterator<Item = R>,
    name: impl Fn(&R) -> N,
    mut check: impl FnMut(R),
) {
    let mut failed = Vec::new();
    for row in rows {
        let name = name(&row).to_string();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(row))) {
            failed.push(format!("row {name}:\n{}", message(&*panic)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("")
}
