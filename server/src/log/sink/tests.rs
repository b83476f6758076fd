use std::time::Instant;

use slog::{Discard, Logger, info, o, warn};

use super::*;

#[test]
fn records_are_gathered_for_100_ms() {
    let sink = Sink::default();
    sink.append(b"one\n");
    let started = Instant::now();
    let mut records = Vec::new();
    assert_eq!(sink.take(&mut records), 0);
    assert!(started.elapsed() >= GATHER, "{:?}", started.elapsed());
    assert_eq!(records, b"one\n");
}

#[test]
fn records_of_64_kib_are_written_at_once() {
    let sink = Sink::default();
    sink.append(&vec![b'.'; 65_535]);
    assert!(!sink.lock().urgent);
    sink.append(b"\n");
    assert!(sink.lock().urgent);
    sink.take(&mut Vec::new());
    assert!(!sink.lock().urgent, "later records are gathered again");
}

#[test]
fn records_without_room_are_counted() {
    let sink = Sink::default();
    sink.append(&vec![b'.'; 1_048_575]);
    sink.append(b"\n");
    sink.append(b"lost");
    sink.append(b"lost");
    let mut records = Vec::new();
    assert_eq!(sink.take(&mut records), 2);
    assert_eq!(records.len(), 1_048_576);
    sink.append(b"\n");
    assert_eq!(sink.take(&mut Vec::new()), 0);
}

#[test]
fn warning_is_written_at_once() {
    let sink = Arc::new(Sink::default());
    let log = Logger::root(Urgent { drain: Discard, sink: Arc::clone(&sink) }, o!());
    info!(log, "it can wait");
    assert!(!sink.lock().urgent);
    warn!(log, "it cannot");
    assert!(sink.lock().urgent);
}
