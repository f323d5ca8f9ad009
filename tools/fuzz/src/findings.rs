//! Inputs that show a defect, as files.

use crate::{Args, Target};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::PathBuf;

/// Keeps an input with what is wrong; of defects that read alike the smallest input.
pub(crate) fn keep(args: &Args, number: u64, input: &[u8], defect: &str) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.out)?;
    let path = path(args, defect);
    if std::fs::metadata(&path).is_ok_and(|known| known.len() <= input.len() as u64) {
        return Ok(());
    }
    std::fs::write(&path, input)?;
    let target = match args.target {
        Target::Bytes => "bytes",
        Target::Tokens => "tokens",
    };
    let note = format!("{target} --seed={} --case={number}\n{defect}\n", args.seed);
    std::fs::write(path.with_extension("txt"), note)?;
    Ok(())
}

/// Where defects like this one are kept: by the words of the first line, numbers and names left out.
fn path(args: &Args, defect: &str) -> PathBuf {
    let line = defect.lines().take(1).collect::<String>();
    let words = line.split(|c: char| !c.is_ascii_alphabetic()).take(24);
    let mut hasher = DefaultHasher::new();
    for word in words {
        word.hash(&mut hasher);
    }
    // A panic's place is in its first line, with the numbers that tell places apart.
    if line.starts_with("panicked at ") {
        line.hash(&mut hasher);
    }
    args.out.join(format!("{:08x}.mlir", hasher.finish() as u32))
}
