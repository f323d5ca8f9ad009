//! From MLIR text to a shared library: parse, lower to the LLVM dialect,
//! translate, optimise, assemble, link.

mod link;
mod llvm;
mod mlir;

use crate::CodegenError;
use crate::kernels::Stage;

/// Compiles MLIR text to an ELF shared library for the host.
///
/// # Errors
/// See [`CodegenError`].
pub(crate) fn shared_library(text: &str) -> Result<Vec<u8>, CodegenError> {
    let object = mlir::with_lowered(text, |lowered| llvm::Code::new(lowered)?.object())?;
    link::shared(&object)
}

/// The text of MLIR kernels at a later stage.
///
/// # Errors
/// See [`CodegenError`].
pub(crate) fn stage_text(text: &str, stage: Stage) -> Result<String, CodegenError> {
    match stage {
        Stage::Linalg => Ok(text.to_owned()),
        Stage::LlvmMlir => mlir::with_lowered(text, |lowered| Ok(lowered.as_operation().to_string())),
        Stage::LlvmIr => mlir::with_lowered(text, |lowered| llvm::Code::new(lowered)?.ir()),
        Stage::Asm => mlir::with_lowered(text, |lowered| llvm::Code::new(lowered)?.assembly()),
    }
}
