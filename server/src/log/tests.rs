use std::io::ErrorKind;
use std::sync::{Mutex, PoisonError};

use slog::info;

use super::*;

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
fn record_that_a_full_disk_has_cut_is_finished_before_the_next_one() {
    for format in [LogFormat::Json, LogFormat::Text] {
        let disk = Shared::default();
        let log = Logger::root(Mutex::new(formatter(format, disk.clone())).ignore_res(), o!());
        for (free, text) in [(9, "one"), (0, "two"), (999, "three")] {
            disk.0.lock().expect("no panic").free = free;
            info!(log, "{text}");
        }
        let written = disk.0.lock().expect("no panic").written.clone();
        let written = String::from_utf8(written).expect("text");
        let lines: Vec<&str> = written.lines().collect();
        let [one, two, three] = &lines[..] else { panic!("three lines: {written}") };
        for (line, text) in [(one, "one"), (two, "two"), (three, "three")] {
            assert!(line.contains(text), "{written}");
            assert!(format == LogFormat::Text || line.starts_with('{'), "{written}");
        }
    }
}
