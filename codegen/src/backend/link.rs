//! From an object file to a shared library.

use crate::CodegenError;
use std::fs;
use std::process::Command;

/// LLVM's linker, as Debian names it; it comes with the other LLVM 22 packages.
const LINKER: &str = "ld.lld-22";

/// Links one object file into an ELF shared library. What it leaves undefined
/// are `memcpy`, `memmove` and `memset`, which every process has.
///
/// # Errors
/// The linker is missing or fails; temporary files cannot be written.
pub(super) fn shared(object: &[u8]) -> Result<Vec<u8>, CodegenError> {
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("kernels.o");
    let output = folder.path().join("kernels.so");
    fs::write(&input, object)?;
    let link = |message: String| CodegenError::Link { linker: LINKER, message };
    let run = Command::new(LINKER)
        .args(["-shared", "--gc-sections", "--strip-all", "--hash-style=gnu", "-z", "now", "-o"])
        .arg(&output)
        .arg(&input)
        .output()
        .map_err(|error| link(error.to_string()))?;
    if !run.status.success() {
        return Err(link(String::from_utf8_lossy(&run.stderr).into_owned()));
    }
    Ok(fs::read(&output)?)
}
