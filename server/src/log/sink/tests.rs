use super::*;

/// A disk with so many free bytes.
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
fn full_disk_loses_whole_records_and_counts_them() {
    let (mut disk, mut is_torn) = (Disk { free: 6, ..Disk::default() }, false);
    assert_eq!(write(&mut disk, b"one\ntwo\nthree\n", &mut is_torn), 2);
    assert_eq!(write(&mut disk, b"four\n", &mut is_torn), 1);
    disk.free = 100;
    assert_eq!(write(&mut disk, b"five\n", &mut is_torn), 0);
    let written = String::from_utf8(disk.written).expect("text");
    assert_eq!(written, "one\ntw\nfive\n");
}

#[test]
fn records_without_room_are_counted_and_that_is_said_when_there_is_room() {
    let (sink, mut records) = (Sink::default(), Vec::new());
    sink.append(&vec![b'.'; CAPACITY - 1]);
    assert!(sink.pending.lock().is_urgent, "so many records are written at once");
    sink.append(b"\n");
    sink.append(b"lost");
    assert_eq!(sink.wrote(0), 0);
    sink.take(&mut records);
    assert_eq!(records.len(), CAPACITY);
    assert_eq!((sink.wrote(1), sink.wrote(0), sink.wrote(0)), (0, 2, 0));
}

#[test]
fn what_a_terminal_obeys_is_escaped() {
    let line = "x\u{9b}31m \u{202e}\u{2028}\n\"é\n";
    assert_eq!(escaped(line.as_bytes()), "x\\u{9b}31m \\u{202e}\\u{2028}\\u{a}\"é\n");
}
