//! LLVM: translation out of MLIR, optimisation, object code.

use crate::CodegenError;
use inkwell::OptimizationLevel;
use inkwell::context::{AsContextRef as _, Context};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine};
use std::sync::OnceLock;

/// LLVM's pipeline. `O2` vectorises all that `O3` does here.
const PASSES: &str = "default<O2>";

/// A module of LLVM IR. The module lives in a context of its own that is
/// dropped after it.
pub(super) struct Code {
    // Order matters: fields are dropped from the top.
    module: Module<'static>,
    machine: TargetMachine,
    _context: Box<Context>,
}

fn llvm(message: impl ToString) -> CodegenError {
    CodegenError::Llvm { message: message.to_string() }
}

impl Code {
    /// Translates a module of the LLVM dialect and optimises it for the host.
    ///
    /// # Errors
    /// What LLVM does not translate, verify or optimise.
    pub(super) fn new(lowered: &melior::ir::Module<'_>) -> Result<Self, CodegenError> {
        let machine = host_machine()?;
        let context = Box::new(Context::create());
        let module = translate(lowered, &context)?;
        module.set_triple(&machine.get_triple());
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        let options = PassBuilderOptions::create();
        // Loops over lanes must reach the vectoriser as loops.
        options.set_loop_unrolling(false);
        options.set_loop_vectorization(true);
        options.set_loop_interleaving(true);
        module.run_passes(PASSES, &machine, options).map_err(llvm)?;
        Ok(Self { module, machine, _context: context })
    }

    /// The optimised IR.
    pub(super) fn ir(&self) -> Result<String, CodegenError> {
        Ok(self.module.print_to_string().to_string())
    }

    /// Assembly text.
    ///
    /// # Errors
    /// What the back end refuses.
    pub(super) fn assembly(&self) -> Result<String, CodegenError> {
        let bytes = self.emit(FileType::Assembly)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// An ELF object file.
    ///
    /// # Errors
    /// What the back end refuses.
    pub(super) fn object(&self) -> Result<Vec<u8>, CodegenError> {
        self.emit(FileType::Object)
    }

    fn emit(&self, kind: FileType) -> Result<Vec<u8>, CodegenError> {
        let buffer = self.machine.write_to_memory_buffer(&self.module, kind).map_err(llvm)?;
        Ok(buffer.as_slice().to_vec())
    }
}

/// A target machine for the host's own processor.
fn host_machine() -> Result<TargetMachine, CodegenError> {
    static INITIALISED: OnceLock<Result<(), String>> = OnceLock::new();
    let target = |message: String| CodegenError::Target { message };
    INITIALISED
        .get_or_init(|| Target::initialize_native(&InitializationConfig::default()))
        .clone()
        .map_err(target)?;
    let triple = TargetMachine::get_default_triple();
    let native = Target::from_triple(&triple).map_err(|error| target(error.to_string()))?;
    let cpu = TargetMachine::get_host_cpu_name().to_string();
    let features = TargetMachine::get_host_cpu_features().to_string();
    native
        .create_target_machine(
            &triple,
            &cpu,
            &features,
            OptimizationLevel::Default,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| target(format!("{cpu} on {triple}")))
}

/// `mlirTranslateModuleToLLVMIR` into an inkwell module.
#[allow(unsafe_code)]
fn translate(lowered: &melior::ir::Module<'_>, context: &Context) -> Result<Module<'static>, CodegenError> {
    // SAFETY: the operation is alive for the call and its context has the LLVM
    // translations registered; both crates link the one libLLVM, so that the
    // opaque pointers are of one kind. The module's context is boxed beside the
    // module in `Code` and outlives it, which is what 'static stands for here.
    unsafe {
        let raw = mlir_sys::mlirTranslateModuleToLLVMIR(
            lowered.as_operation().to_raw(),
            context.as_ctx_ref().cast(),
        );
        if raw.is_null() {
            return Err(llvm("the translation from MLIR failed"));
        }
        Ok(Module::new(raw.cast()))
    }
}
