//! Tables of cases.

use std::any::Any;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Checks every row of a table. Then fails with each row that failed, and with its message.
pub fn each_row<R: Debug>(rows: impl IntoIterator<Item = R>, mut check: impl FnMut(R)) {
    let mut failed = Vec::new();
    for row in rows {
        let shown: String = format!("{row:?}").chars().take(200).collect();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(row))) {
            failed.push(format!("row {shown}\n{}", message(&*panic)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("")
}
