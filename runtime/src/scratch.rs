//! Scratch memory of matrix products and convolutions: kept per thread, so
//! that steps do not allocate.

use std::cell::Cell;

/// Bytes of one operand that are converted or gathered at a time; a thread
/// holds at most three such pieces. Twice a typical L2 cache: the packing of
/// the matrix product cuts further.
pub const MAX_SCRATCH_BYTES: usize = 8 << 20;

/// Pieces that one thread uses at once.
const PIECES: usize = 3;

thread_local! {
    static PIECE: [Cell<Vec<f32>>; PIECES] = const { [const { Cell::new(Vec::new()) }; PIECES] };
}

/// Runs `work` on a piece of `len` floats of any content. A piece in use, by an
/// outer call on this thread, is not disturbed: the inner call allocates.
pub(crate) fn with_piece<R>(index: usize, len: usize, work: impl FnOnce(&mut [f32]) -> R) -> R {
    PIECE.with(|pieces| {
        let mut piece = pieces[index % PIECES].take();
        if piece.len() < len {
            piece.resize(len, 0.0);
        }
        let result = work(&mut piece[..len]);
        pieces[index % PIECES].set(piece);
        result
    })
}
