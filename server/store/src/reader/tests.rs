use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

use tempfile::TempDir;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use super::*;
use crate::engine::{Checked, Closed, Outcome, Sizes, Start};
use crate::error::{StoreError, WriteError};
use crate::token::{StoredToken, TokenName};
use crate::url::StoreUrl;
use crate::{Served, open_to_serve};

/// An engine that counts how many threads read it at the same time.
struct Counting {
    store: Arc<dyn Engine>,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Engine for Counting {
    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, StoreError> {
        let running = self.running.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(running, SeqCst);
        assert_ne!(after, Some(i64::MAX - 2), "the test wants a panic");
        let page = self.store.page(after, limit);
        self.running.fetch_sub(1, SeqCst);
        page
    }

    fn commit(&self, _: &[Row], _: Instant) -> Result<Vec<Outcome>, WriteError> {
        unimplemented!("a reader only reads plants")
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        unimplemented!("a reader only reads plants")
    }

    fn add_token(&self, _: &StoredToken) -> Result<(), StoreError> {
        unimplemented!("a reader only reads plants")
    }

    fn revoke_token(&self, _: &TokenName) -> Result<(), StoreError> {
        unimplemented!("a reader only reads plants")
    }

    fn check(&self) -> Result<Checked, StoreError> {
        unimplemented!("a reader only reads plants")
    }

    fn inspect(&self) -> Result<Sizes, WriteError> {
        unimplemented!("a reader only reads plants")
    }

    fn close(&self) -> Result<Closed, StoreError> {
        unimplemented!("a reader only reads plants")
    }
}

/// If 450 of them took a thread each, the tokens would wait behind all.
#[test]
fn plants_of_450_requests_are_read_one_at_a_time() {
    let folder = TempDir::new().expect("a temporary folder");
    let url = StoreUrl::Sqlite(folder.path().join("plants.db"));
    let start = Start { make: true, ..Start::default() };
    let Served { store, .. } = open_to_serve(&url, None, start).expect("a new store");
    let row = |id| Row { id, plant: format!(r#"{{"name":"Ficus {id}"}}"#).into() };
    let rows = [i64::MIN, 0, 7, i64::MAX].map(row);
    store.commit(&rows, Instant::now()).expect("a commit");
    let running = AtomicUsize::new(0);
    let engine = Arc::new(Counting { store, running, most: AtomicUsize::new(0) });
    let reader = Reader::new(Arc::clone(&engine) as Arc<dyn Engine>);
    let runtime = Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    runtime.block_on(async {
        for wanted in rows {
            assert_eq!(reader.plant(wanted.id).await.expect("a sound store"), Some(wanted));
        }
        let panic = reader.plant(i64::MAX - 1).await.expect_err("the engine panics").to_string();
        assert!(panic.contains("the test wants a panic"), "{panic}");
        engine.running.store(0, SeqCst);
        let mut reads = JoinSet::new();
        for id in 0..450 {
            let reader = reader.clone();
            reads.spawn(async move { reader.plant(id).await.expect("a sound store").is_some() });
        }
        let found = reads.join_all().await.into_iter().filter(|is_there| *is_there).count();
        assert_eq!(found, 2);
    });
    assert_eq!(engine.most.load(SeqCst), 1);
}
