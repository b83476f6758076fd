use std::io::{ErrorKind, Write};
use std::sync::{Mutex, PoisonError};

use slog::{Logger, info, o};

use super::*;
use crate::log::{LogFormat, formatter};

/// A disk that takes `free` bytes more.
#[derive(Default)]
struct Disk {
    written: Vec<u8>,
    free: usize,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Disk>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let more = bytes.len().min(disk.free);
        if more == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        disk.free -= more;
        disk.written.extend_from_slice(&bytes[..more]);
        Ok(more)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn records_that_a_full_disk_did_not_take_are_counted_and_said() {
    let disk = Shared::default();
    let lost = Arc::<Lost>::default();
    let drain = formatter(LogFormat::Text, disk.clone());
    let drain = Mutex::new(CountFailed { drain, lost: Arc::clone(&lost) });
    let log = Logger::root(drain.fuse(), o!());
    for (free, text, is_lost) in [(99, "one", 0), (1, "two", 1), (0, "three", 2), (999, "four", 0)]
    {
        disk.0.lock().expect("no panic").free = free;
        info!(log, "{text}");
        assert_eq!(lost.0.load(Relaxed), is_lost, "{text}");
    }
    let written = String::from_utf8(disk.0.lock().expect("no panic").written.clone());
    let written = written.expect("text");
    let lines: Vec<&str> = written.lines().collect();
    let [one, report, four] = &lines[..] else { panic!("three lines: {written}") };
    assert!(one.ends_with("one") && four.ends_with("four"), "{written}");
    assert!(report.ends_with("records lost, lost: 2"), "{written}");
}
