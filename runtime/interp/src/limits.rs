//! How much an evaluation may do.

use crate::error::{Fault, Outcome};
use crate::site::Site;
use crate::tensor::MAX_TENSOR_BYTES;
use ckpt_ir::OpKind;
use ckpt_ir::cost::work;

/// Bounds of one evaluation. Default: what the evaluator documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one tensor. Default: [`MAX_TENSOR_BYTES`].
    pub tensor_bytes: u64,
    /// Operations and bytes written by all of them together, each operation
    /// counting at least one; what a body repeats counts each time. Default: none.
    pub work: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tensor_bytes: MAX_TENSOR_BYTES, work: u64::MAX }
    }
}

impl Limits {
    /// Takes the work of an operation from what is left.
    ///
    /// # Errors
    /// [`Fault::LimitExceeded`] if there is too little left.
    pub(crate) fn spend(&mut self, site: Site<'_>) -> Outcome<()> {
        if self.work == u64::MAX {
            return Ok(());
        }
        let work = match site.kind() {
            // Their bodies are charged as they run.
            OpKind::While | OpKind::If | OpKind::Case | OpKind::FuncCall | OpKind::Composite => 1,
            _ => {
                let work = work(site.module, site.op);
                work.flops.0.saturating_add(work.bytes_written.0).max(1)
            }
        };
        self.work = self.work.checked_sub(work).ok_or(Fault::LimitExceeded("the program does too much"))?;
        Ok(())
    }
}
