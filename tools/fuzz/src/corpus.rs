//! The programs that cases are made of.

use crate::random::Random;
use anyhow::Context as _;
use ckpt_ir::text::{SPLIT_MARKER, split_pieces};
use std::path::{Path, PathBuf};

/// Longer pieces are left out: a case has a second at most.
const MAX_PIECE_BYTES: usize = 256 << 10;

/// What is read where no folder is named, relative to the working directory:
/// the project's own programs, and shared data where it is laid beside the checkout.
pub(crate) const DEFAULT_FOLDERS: [&str; 3] = ["lit-tests", "../shared/corpus", "../shared/models"];

/// Programs, in the order of their paths.
pub(crate) struct Corpus {
    pieces: Vec<String>,
}

impl Corpus {
    /// All `.mlir` files below `folders`, split at `// -----`; a folder that is not there is empty.
    ///
    /// # Errors
    /// A file that cannot be read, and no program at all.
    pub(crate) fn read(folders: &[PathBuf]) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        let mut open: Vec<PathBuf> = folders.iter().filter(|folder| folder.is_dir()).cloned().collect();
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
                let path = entry?.path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|extension| extension == "mlir") {
                    files.push(path);
                }
            }
        }
        files.sort();
        let mut pieces = Vec::new();
        for file in &files {
            pieces.extend(pieces_of(file)?);
        }
        anyhow::ensure!(!pieces.is_empty(), "there is no program below the folders of the corpus");
        Ok(Self { pieces })
    }

    /// How many programs there are.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// A program; of two drawn the shorter, so that most cases are quick.
    pub(crate) fn draw(&self, random: &mut Random) -> &str {
        let first = &self.pieces[random.below(self.pieces.len())];
        let second = &self.pieces[random.below(self.pieces.len())];
        if first.len() <= second.len() { first } else { second }
    }
}

fn pieces_of(file: &Path) -> anyhow::Result<Vec<String>> {
    let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let pieces = split_pieces(&text, SPLIT_MARKER).into_iter().map(|(_, piece)| piece);
    Ok(pieces.filter(|piece| piece.len() <= MAX_PIECE_BYTES).map(str::to_owned).collect())
}
