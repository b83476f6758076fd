use std::io::ErrorKind;
use std::sync::mpsc;

use slog::Drain;

use super::*;

/// A disk that is full after `free` bytes.
#[derive(Default)]
struct Disk {
    written: Vec<u8>,
    free: usize,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let more = bytes.len().min(self.free);
        if more == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        self.free -= more;
        self.written.extend_from_slice(&bytes[..more]);
        Ok(more)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn records_that_a_full_disk_did_not_take_are_counted_and_none_is_joined_to_a_torn_line() {
    let sink = Arc::<Sink>::default();
    let mut records = Vec::new();
    let mut disk = Disk::default();
    let lines = Lines { record: Vec::new(), is_text: false, sink: Arc::clone(&sink) };
    let drain = std::sync::Mutex::new(slog_json::Json::new(lines).set_flush(true).build()).fuse();
    let log = Logger::root(drain, slog::o!());
    for (free, record, lost) in [(2, "one\n", 1), (0, "two\n", 2), (99, "three\n", 2)] {
        disk.free = free;
        sink.append(record.as_bytes());
        sink.write(&mut disk, &mut records, &log);
        assert_eq!(sink.pending.lock().lost, lost, "{record}");
    }
    for _ in 0..2 {
        sink.append(b"four\n");
        sink.write(&mut disk, &mut records, &log);
    }
    let written = String::from_utf8(disk.written).expect("text");
    assert_eq!(written, "on\nthree\nfour\n{\"lost\":2}\nfour\n");
}

#[test]
fn writer_without_records_waits_until_there_is_one() {
    let sink = Arc::<Sink>::default();
    let (sender, written) = mpsc::channel();
    let writer = Arc::clone(&sink);
    thread::spawn(move || {
        let log = Logger::root(slog::Discard, slog::o!());
        let mut disk = Disk { free: 99, ..Disk::default() };
        writer.write(&mut disk, &mut Vec::new(), &log);
        sender.send(disk.written).expect("the test waits for it");
    });
    assert!(written.recv_timeout(3 * GATHER).is_err(), "it does not wake up to look");
    sink.append(b"one\n");
    assert_eq!(written.recv().expect("it writes"), b"one\n");
}

#[test]
fn records_past_the_capacity_are_counted() {
    let sink = Sink::default();
    sink.append(&vec![b'.'; CAPACITY - 1]);
    assert!(sink.pending.lock().is_urgent, "a full buffer is written at once");
    sink.append(b"\n");
    assert_eq!(sink.pending.lock().lost, 0);
    sink.append(b"lost");
    assert_eq!(sink.pending.lock().lost, 1);
}

#[test]
fn what_a_terminal_obeys_is_escaped() {
    let line = "x\u{9b}31m \u{202e}\u{2028}\n\"é\n";
    assert_eq!(escaped(line.as_bytes()), "x\\u{9b}31m \\u{202e}\\u{2028}\\u{a}\"é\n");
}
