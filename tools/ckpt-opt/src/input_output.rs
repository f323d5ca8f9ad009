//! Reading whole inputs and writing whole outputs.

use crate::failure::Failure;
use flate2::read::GzDecoder;
use std::io::{Read as _, Write as _};
use std::path::Path;

/// The first bytes of every gzip stream (RFC 1952, section 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads a whole file, or standard input for `-`; gzip is unpacked.
pub(crate) fn read(path: &str) -> Result<Vec<u8>, Failure> {
    let failed = |source| Failure::Io { path: path.into(), source };
    let mut bytes = Vec::new();
    if path == "-" {
        std::io::stdin().read_to_end(&mut bytes).map_err(failed)?;
    } else {
        bytes = std::fs::read(path).map_err(failed)?;
    }
    if !bytes.starts_with(&GZIP_MAGIC) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    GzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).map_err(failed)?;
    Ok(unpacked)
}

/// Writes a whole file or nothing: the text goes to a temporary file beside
/// the target, which is then renamed. `-` is standard output, and a target
/// that is not a regular file (a device, a pipe) is written directly.
pub(crate) fn write(path: &str, text: &[u8]) -> Result<(), Failure> {
    let failed = |source| Failure::Io { path: path.into(), source };
    if path == "-" {
        return match std::io::stdout().write_all(text) {
            // Who reads only the beginning has what it wants.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(failed),
        };
    }
    let target = Path::new(path);
    if target.exists() && !target.is_file() {
        return std::fs::write(target, text).map_err(failed);
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = new_file_in(folder).map_err(failed)?;
    file.write_all(text).map_err(failed)?;
    file.persist(target).map_err(|e| failed(e.error))?;
    Ok(())
}

/// A temporary file with the permissions that any new file gets; those of
/// temporary files let nobody else read.
fn new_file_in(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}
