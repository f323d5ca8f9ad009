//! Compiled kernels: a shared object out of memory.
#![allow(unsafe_code)]

use crate::ProgramError;
use crate::block_product::Shared;
use rayon::prelude::*;
use std::io::Write as _;

/// What every kernel is. Buffers are inputs, then outputs; `[begin, end)` is a part of its extent.
pub(crate) type Entry = unsafe extern "C" fn(*const *mut u8, u64, u64);

/// Bytes of operands and results below which a kernel runs on one thread:
/// what one core moves in about 10 µs, several times what waking another costs.
const MIN_PARALLEL_BYTES: u64 = 128 << 10;

/// A loaded shared object.
pub(crate) struct Library {
    handle: libloading::Library,
}

impl Library {
    /// Loads a shared object from its bytes.
    pub(crate) fn load(bytes: &[u8]) -> Result<Self, ProgramError> {
        let failed = |error: &dyn std::fmt::Display| ProgramError::Library(error.to_string());
        let mut file = tempfile::Builder::new().suffix(".so").tempfile().map_err(|error| failed(&error))?;
        file.write_all(bytes).map_err(|error| failed(&error))?;
        let path = file.into_temp_path();
        // SAFETY: kernels have no constructors; the file is removed once it is mapped.
        let handle = unsafe { libloading::Library::new(&path) }.map_err(|error| failed(&error))?;
        Ok(Self { handle })
    }

    /// The kernel of a name. It lives as long as the library.
    pub(crate) fn kernel(&self, symbol: &str) -> Result<Entry, ProgramError> {
        // SAFETY: the compiler gives kernels this type; others get no symbol.
        let found = unsafe { self.handle.get::<Entry>(symbol.as_bytes()) };
        found.map(|symbol| *symbol).map_err(|error| ProgramError::Library(error.to_string()))
    }
}

/// Runs a kernel over all of its extent, in as many parts as there are threads.
///
/// # Safety
/// The pointers are the kernel's buffers, disjoint where it writes.
pub(crate) unsafe fn run(entry: Entry, pointers: &[*mut u8], extent: u64, bytes: u64) {
    let threads = rayon::current_num_threads() as u64;
    if threads < 2 || extent < 2 || bytes < MIN_PARALLEL_BYTES {
        // SAFETY: the caller's promise.
        unsafe { entry(pointers.as_ptr(), 0, extent) }
        return;
    }
    let parts = threads.min(extent);
    let shared = Shared(pointers.as_ptr().cast_mut());
    (0..parts as usize).into_par_iter().with_max_len(1).for_each(|part| {
        let part = part as u64;
        let (begin, end) = (part_start(part, parts, extent), part_start(part + 1, parts, extent));
        // SAFETY: the caller's promise, and parts of the extent write disjoint elements.
        unsafe { entry(shared.at(0), begin, end) }
    });
}

fn part_start(part: u64, parts: u64, extent: u64) -> u64 {
    (u128::from(part) * u128::from(extent) / u128::from(parts)) as u64
}
