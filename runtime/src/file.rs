//! Programs as bytes: magic, version, length, checksum, then the content in
//! postcard's format.

use crate::{Program, ProgramError};
use std::hash::Hasher as _;

/// The first bytes of every program; the second line end shows a text-mode copy.
const MAGIC: [u8; 8] = *b"ckptopt\n";

/// The version of the format; content of another version is not read.
const VERSION: u32 = 1;

/// Magic, version, length of the content and its checksum.
const HEADER_BYTES: usize = 8 + 4 + 8 + 8;

impl Program {
    /// The program as bytes, the same for equal programs.
    ///
    /// # Errors
    /// [`ProgramError::Inconsistent`] if it cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ProgramError> {
        let content = postcard::to_stdvec(self).map_err(|e| ProgramError::Inconsistent(e.to_string()))?;
        let mut bytes = Vec::with_capacity(HEADER_BYTES + content.len());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(checksum(&content).to_le_bytes());
        bytes.extend(content);
        Ok(bytes)
    }

    /// The program out of its bytes, checked for consistency.
    ///
    /// # Errors
    /// Whatever makes it no program that can run, see [`ProgramError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProgramError> {
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] || bytes.is_empty() {
            return Err(ProgramError::Foreign);
        }
        let short = |expected: usize| ProgramError::Truncated {
            found: bytes.len() as u64,
            expected: expected as u64,
        };
        let Some((header, content)) = bytes.split_at_checked(HEADER_BYTES) else {
            return Err(short(HEADER_BYTES));
        };
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&header[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let found = word(8) as u32;
        if found != VERSION {
            return Err(ProgramError::Version { found, supported: VERSION });
        }
        let (length, sum) = (word(12), word(20));
        if (content.len() as u64) < length {
            return Err(short(HEADER_BYTES.saturating_add(length as usize)));
        }
        if content.len() as u64 > length || checksum(content) != sum {
            return Err(ProgramError::Damaged);
        }
        let program: Self = postcard::from_bytes(content).map_err(|_| ProgramError::Damaged)?;
        program.validate()?;
        Ok(program)
    }
}

/// FNV-1a: finds accidents, not intent.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = fnv::FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Step, Work, program::CopyStep};

    fn program() -> Program {
        use ckpt_entity::EntityId as _;
        let copy = CopyStep { pairs: vec![(crate::BufferId::from_index(0), crate::BufferId::from_index(1))] };
        let step = Step { name: "%1".into(), kind: "copy".into(), place: None, work: Work::Copy(copy) };
        Program {
            name: "main".into(),
            arena_bytes: 16,
            buffers: vec![Buffer { offset: 0, bytes: 8 }, Buffer { offset: 8, bytes: 8 }],
            blocks: vec![vec![step]],
            ..Program::default()
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = program().to_bytes().unwrap();
        assert_eq!(Program::from_bytes(&bytes), Ok(program()));
        assert_eq!(program().to_bytes().unwrap(), bytes);
    }

    #[test]
    fn each_defect_has_its_error() {
        let bytes = program().to_bytes().unwrap();
        assert_eq!(Program::from_bytes(b"\x7fELF and so on, and on, and on"), Err(ProgramError::Foreign));
        assert_eq!(Program::from_bytes(&[]), Err(ProgramError::Foreign));
        for length in 1..bytes.len() {
            let error = Program::from_bytes(&bytes[..length]);
            assert!(matches!(error, Err(ProgramError::Truncated { .. })), "{length}: {error:?}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Program::from_bytes(&damaged).is_err(), "{at}");
        }
        let mut other = bytes.clone();
        other[8] = 2;
        assert_eq!(Program::from_bytes(&other), Err(ProgramError::Version { found: 2, supported: 1 }));
        let mut outside = program();
        outside.buffers[1].offset = 9;
        let bytes = outside.to_bytes().unwrap();
        assert!(matches!(Program::from_bytes(&bytes), Err(ProgramError::Inconsistent(_))));
    }
}
