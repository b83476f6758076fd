use std::io::ErrorKind;
use std::sync::Arc;

use slog::{Logger, info, o};

use super::*;

/// A disk that takes `free` bytes more.
#[derive(Default)]
struct Disk {
    written: Vec<u8>,
    free: usize,
}

impl Write for &mut Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.free);
        if taken == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        self.free -= taken;
        self.written.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn records_that_a_full_disk_refuses_are_written_once_it_has_room() {
    for format in [LogFormat::Json, LogFormat::Text] {
        let mut disk = Disk::default();
        let buffer = Arc::new(Buffer::new(format));
        let log = Logger::root(Arc::clone(&buffer).ignore_res(), o!());
        buffer.end();
        for (free, text) in [(9, "one"), (0, "two"), (999, "three")] {
            disk.free = free;
            info!(log, "{text}");
            buffer.write_to(&mut disk);
        }
        let written = String::from_utf8(disk.written).expect("text");
        let lines: Vec<&str> = written.lines().collect();
        let [one, two, three] = &lines[..] else { panic!("three lines: {written}") };
        for (line, text) in [(one, "one"), (two, "two"), (three, "three")] {
            assert!(line.contains(text), "{written}");
            assert!(format == LogFormat::Text || line.starts_with('{'), "{written}");
        }
    }
}
