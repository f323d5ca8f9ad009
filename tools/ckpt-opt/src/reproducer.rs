//! What a user sends when this program contradicts itself: the input with the
//! command line that brought it down.

use crate::failure::Failure;
use crate::input_output;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

/// How the first line of a reproducer starts; the command line follows.
const MARKER: &str = "// ckpt-opt ";

/// The first text that was read: standard input cannot be read again.
static INPUT: OnceLock<String> = OnceLock::new();

/// Remembers the input.
pub(crate) fn remember(text: &str) {
    INPUT.get_or_init(|| text.to_owned());
}

/// A text that stands in for whatever file the command line names.
static REPLAYED: OnceLock<String> = OnceLock::new();

/// The option that runs a reproducer.
const OPTION: &str = "--run-reproducer";

/// The command line to run: this process's own or, for
/// `--run-reproducer FILE`, the one that the file holds, with its text as input.
pub(crate) fn command_line() -> Result<Vec<String>, Failure> {
    let own = std::env::args_os().map(|argument| argument.into_string());
    let own: Vec<String> = own
        .collect::<Result<_, _>>()
        .map_err(|argument| Failure::Usage(format!("{}: arguments must be UTF-8", argument.display())))?;
    let path =
        own.iter().enumerate().skip(1).find_map(|(at, argument)| match argument.strip_prefix(OPTION) {
            Some("") => own.get(at + 1).map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        });
    let Some(path) = path else { return Ok(own) };
    let invalid = |message: &str| Failure::Invalid { path: path.to_owned(), message: message.to_owned() };
    let text = String::from_utf8(input_output::read(path)?).map_err(|_| invalid("is not valid UTF-8"))?;
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let arguments = first.strip_prefix(MARKER).and_then(shlex::split);
    let arguments =
        arguments.ok_or_else(|| invalid("is no reproducer: it does not start with a command line"))?;
    REPLAYED.get_or_init(|| rest.to_owned());
    Ok(own.into_iter().take(1).chain(arguments).collect())
}

/// The text of the reproducer that runs, if one does.
pub(crate) fn replayed() -> Option<&'static str> {
    REPLAYED.get().map(String::as_str)
}

/// Writes the input behind the command line, into the working directory or,
/// where that cannot be written, the one for temporary files. The name depends
/// on the input alone, so that repeated failures leave one file.
pub(crate) fn write() -> Option<PathBuf> {
    let input = INPUT.get()?;
    let arguments: Vec<String> = command_line().ok()?.into_iter().skip(1).collect();
    let arguments = shlex::try_join(arguments.iter().map(String::as_str)).ok()?;
    let text = format!("{MARKER}{arguments}\n{input}");
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = format!("ckpt-opt-reproducer-{:08x}.mlir", hasher.finish() as u32);
    let folders = [PathBuf::from("."), std::env::temp_dir()];
    folders.into_iter().map(|folder| folder.join(&name)).find(|path| {
        let file = std::fs::File::create(path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).is_ok()
    })
}
