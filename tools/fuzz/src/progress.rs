//! What a worker tells its supervisor: a small file, written for each case, so
//! that a case that ends the process is known by its number.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Counters of a worker since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The case that runs.
    pub(crate) case: u64,
    /// Cases that reached each stage, in the order of [`Reached`](crate::case::Reached).
    pub(crate) reached: [u64; 4],
    /// Defects found so far.
    pub(crate) defects: u64,
    /// Microseconds of the slowest case, and its number.
    pub(crate) slowest: (u64, u64),
    /// Bytes that one process held at most, and the case by which it was known.
    pub(crate) largest: (u64, u64),
}

impl Progress {
    fn fields(&self) -> [u64; 10] {
        let [a, b, c, d] = self.reached;
        let (slow, slow_case) = self.slowest;
        let (large, large_case) = self.largest;
        [self.case, a, b, c, d, self.defects, slow, slow_case, large, large_case]
    }

    /// Writes the counters over those in `file`.
    pub(crate) fn write(&self, file: &File) -> io::Result<()> {
        let bytes: Vec<u8> = self.fields().iter().flat_map(|field| field.to_le_bytes()).collect();
        file.write_all_at(&bytes, 0)
    }

    /// Reads counters; those of an empty file are zero.
    pub(crate) fn read(file: &File) -> io::Result<Self> {
        let mut bytes = [0; 80];
        if file.metadata()?.len() < bytes.len() as u64 {
            return Ok(Self::default());
        }
        file.read_exact_at(&mut bytes, 0)?;
        let mut fields = bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default()));
        let mut next = || fields.next().unwrap_or_default();
        Ok(Self {
            case: next(),
            reached: [next(), next(), next(), next()],
            defects: next(),
            slowest: (next(), next()),
            largest: (next(), next()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let file = tempfile::tempfile().unwrap();
        let progress =
            Progress { case: 7, reached: [1, 2, 3, 4], defects: 5, slowest: (6, 7), largest: (8, 9) };
        assert_eq!(Progress::read(&file).unwrap(), Progress::default());
        progress.write(&file).unwrap();
        assert_eq!(Progress::read(&file).unwrap(), progress);
    }
}
