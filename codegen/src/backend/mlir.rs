//! Parsing and lowering inside MLIR.

use crate::CodegenError;
use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::Module;
use melior::pass::PassManager;
use melior::utility::{
    parse_pass_pipeline, register_all_dialects, register_all_llvm_translations, register_all_passes,
};
use std::sync::{Arc, Mutex, Once};

/// The conversions from structured loops and arithmetic to the LLVM dialect.
const PIPELINE: &str = "builtin.module(convert-scf-to-cf,convert-math-to-llvm,convert-arith-to-llvm,\
                        convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)";

/// Registers MLIR's passes, once per process.
static PASSES: Once = Once::new();

/// Parses `text`, lowers it to the LLVM dialect and hands it to `then`.
///
/// # Errors
/// Text that does not parse or lower, and what `then` returns.
pub(super) fn with_lowered<T>(
    text: &str,
    then: impl FnOnce(&Module<'_>) -> Result<T, CodegenError>,
) -> Result<T, CodegenError> {
    PASSES.call_once(register_all_passes);
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    register_all_llvm_translations(&context);
    let said: Arc<Mutex<String>> = Arc::default();
    let sink = Arc::clone(&said);
    context.attach_diagnostic_handler(move |diagnostic| {
        if let Ok(mut text) = sink.lock() {
            text.push_str(&format!("{}: {diagnostic}\n", diagnostic.location()));
        }
        true
    });
    let message = || said.lock().map(|text| text.clone()).unwrap_or_default();
    let Some(mut module) = Module::parse(&context, text) else {
        return Err(CodegenError::Invalid { message: message() });
    };
    let passes = PassManager::new(&context);
    passes.enable_verifier(cfg!(debug_assertions));
    parse_pass_pipeline(passes.as_operation_pass_manager(), PIPELINE)
        .and_then(|()| passes.run(&mut module))
        .map_err(|error| CodegenError::Lowering { message: format!("{error}\n{}", message()) })?;
    then(&module)
}
