use std::io;

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
fn full_disk_tears_no_record_and_each_lost_one_is_counted() {
    let say = |lost: u64| format!("lost: {lost}");
    let mut output = Output::new(Disk { free: 6, ..Disk::default() });
    output.write(b"one\ntwo\nthree\n", 0, say);
    output.write(b"four\n", 2, say);
    // Enough for the rest of the second record, and not for a report.
    output.to.free = 2;
    output.write(b"five\n", 0, say);
    output.to.free = 100;
    output.write(b"six\n", 0, say);
    let written = String::from_utf8(output.to.written).expect("text");
    assert_eq!(written, "one\ntwo\nsix\nlost: 5\n");
}
