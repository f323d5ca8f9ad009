//! Lets the command find LLVM's libraries at run time, where it is built with them.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // What ckpt-codegen's build script hands to those that use it.
    if let Ok(folder) = env::var("DEP_CKPT_MLIR_C_RPATH") {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{folder}");
    }
}
