//! What a user sends when this program contradicts itself: the input with the
//! command line that brought it down.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The first text that was read: standard input cannot be read again.
static INPUT: OnceLock<String> = OnceLock::new();

/// Remembers the input.
pub(crate) fn remember(text: &str) {
    INPUT.get_or_init(|| text.to_owned());
}

/// Writes the input behind the command line, into the working directory or,
/// where that cannot be written, the one for temporary files. The name depends
/// on the input alone, so that repeated failures leave one file.
pub(crate) fn write() -> Option<PathBuf> {
    let input = INPUT.get()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = format!("// ckpt-opt {}\n{input}", arguments.join(" "));
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = format!("ckpt-opt-reproducer-{:08x}.mlir", hasher.finish() as u32);
    let folders = [PathBuf::from("."), std::env::temp_dir()];
    folders.into_iter().map(|folder| folder.join(&name)).find(|path| {
        let file = std::fs::File::create(path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).is_ok()
    })
}
