//! Compiling a program's kernels into one shared library.

use crate::CodegenError;
use crate::backend;
pub use crate::emit::NoPath;
use crate::emit::{Literals, NAME, kernel};
use ckpt_ir::{Module, OpId, ValueId};
use std::collections::HashMap;

/// A kernel of a schedule: operations that run as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelSource {
    /// What people call it; not its symbol.
    pub name: String,
    /// The operations, each after those it needs.
    pub ops: Vec<OpId>,
    /// Values that it finds in memory, dense and row-major.
    pub inputs: Vec<ValueId>,
    /// Values that it writes to memory, dense and row-major.
    pub outputs: Vec<ValueId>,
}

/// How to call a compiled kernel:
/// `extern "C" fn(buffers: *const *mut u8, begin: u64, end: u64)`.
///
/// `buffers` are the inputs, then the outputs, none of which overlap. The call
/// computes what belongs to `begin..end` of the parallel dimension; calls for
/// disjoint ranges may run at once, and how `0..extent` is split changes no bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// The exported function. Kernels of equal structure share one.
    pub symbol: String,
    /// The size of the parallel dimension.
    pub extent: u64,
}

/// Compiled kernels.
#[derive(Clone, Debug, Default)]
pub struct Object {
    /// An ELF shared library for the host that needs `memcpy` and the like only; empty if
    /// no kernel was compiled.
    pub shared_library: Vec<u8>,
    /// Per kernel: how to call it; none where there is no fast path.
    pub kernels: Vec<Option<KernelInfo>>,
    /// Per kernel without a fast path, by index: why.
    pub no_path: Vec<(usize, NoPath)>,
    /// Distinct functions in the library.
    pub functions: usize,
}

/// What `--emit` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The structured loops that this crate writes.
    Linalg,
    /// The LLVM dialect.
    LlvmMlir,
    /// LLVM IR, optimised.
    LlvmIr,
    /// Assembly for the host.
    Asm,
}

/// Compiles kernels for the host. Time is linear in the text of distinct kernels.
///
/// # Errors
/// Failures of MLIR, LLVM and the linker; see [`CodegenError`].
pub fn compile(module: &Module, kernels: &[KernelSource]) -> Result<Object, CodegenError> {
    let (text, mut object) = write(module, kernels);
    if object.functions > 0 {
        object.shared_library = backend::shared_library(&text)?;
    }
    Ok(object)
}

/// The text of kernels at a stage of their compilation.
///
/// # Errors
/// As for [`compile`].
pub fn emit(module: &Module, kernels: &[KernelSource], stage: Stage) -> Result<String, CodegenError> {
    backend::stage_text(&write(module, kernels).0, stage)
}

/// All kernels as one MLIR module; those of equal text once.
fn write(module: &Module, kernels: &[KernelSource]) -> (String, Object) {
    let mut literals = Literals::default();
    let mut object = Object::default();
    let mut symbols: HashMap<String, String> = HashMap::new();
    let mut functions = String::new();
    for (index, source) in kernels.iter().enumerate() {
        let emitted = kernel(module, source, &mut literals);
        object.kernels.push(match emitted {
            Err(reason) => {
                object.no_path.push((index, reason));
                None
            }
            Ok(emitted) => {
                let fresh = format!("kernel_{}", symbols.len());
                let symbol = symbols.entry(emitted.text).or_insert_with_key(|text| {
                    functions.push_str(&text.replace(NAME, &format!("@{fresh}")));
                    fresh
                });
                Some(KernelInfo { symbol: symbol.clone(), extent: emitted.extent })
            }
        });
    }
    object.functions = symbols.len();
    (format!("module {{\n{}{functions}}}\n", literals.definitions()), object)
}
