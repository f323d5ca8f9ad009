//! Machine code of kernels, through LLVM.

use ckpt_codegen::kernels::{KernelSource, compile};
use ckpt_ir::Module;
use ckpt_lower::{Compiled, Compiler, Source, Symbol};

/// Compiles for this machine.
pub(crate) struct Native;

impl Compiler for Native {
    fn compile(&mut self, module: &Module, sources: &[Source]) -> Result<Compiled, String> {
        let kernel = |source: &Source| KernelSource {
            name: source.name.clone(),
            ops: source.ops.clone(),
            inputs: source.inputs.clone(),
            outputs: source.outputs.clone(),
        };
        let kernels: Vec<KernelSource> = sources.iter().map(kernel).collect();
        let object = compile(module, &kernels).map_err(|error| error.to_string())?;
        let kernels = object.kernels.into_iter();
        let symbol =
            |info: ckpt_codegen::kernels::KernelInfo| Symbol { symbol: info.symbol, extent: info.extent };
        Ok(Compiled { library: object.shared_library, kernels: kernels.map(|k| k.map(symbol)).collect() })
    }
}
