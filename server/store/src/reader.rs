//! Reads of single plants for requests.
//!
//! An engine reads one page at a time. So one read runs at a time, and the others wait without a
//! thread: however many requests read, there is a thread for the reading of the tokens, and it
//! waits for one of them at most.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use crate::engine::{Engine, Row};
use crate::error::Cause;

/// The way to the plants that are there, shared by all requests.
#[derive(Clone)]
pub struct Reader {
    engine: Arc<Mutex<Arc<dyn Engine>>>,
}

impl Reader {
    /// Reads what that engine keeps.
    pub fn new(engine: Arc<dyn Engine>) -> Self {
        Self { engine: Arc::new(Mutex::new(engine)) }
    }

    /// The plant of that id, if there is one.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or the engine has panicked.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn plant(&self, id: i64) -> Result<Option<Row>, Cause> {
        let engine = Arc::clone(&self.engine).lock_owned().await;
        let read = spawn_blocking(move || engine.page(id.checked_sub(1), 1));
        let page = read.await??;
        Ok(page.into_iter().find(|row| row.id == id))
    }
}

#[cfg(test)]
mod tests;
