//! Makes MLIR's C API linkable in shared mode.
//!
//! Debian ships the C API as static archives only, while `mlir-sys` asks for a
//! library `MLIR-C` beside `libMLIR.so`. A linker script of that name stands in
//! for it: it names the archives, whose objects then use the shared libMLIR.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

/// Where LLVM 22 is installed; `.cargo/config.toml` sets it.
const PREFIX: &str = "MLIR_SYS_220_PREFIX";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PREFIX}");
    let prefix = env::var_os(PREFIX).map_or_else(|| PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    let mut archives = Vec::new();
    for entry in fs::read_dir(prefix.join("lib"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("libMLIRCAPI") && name.ends_with(".a") {
            archives.push(path.to_string_lossy().into_owned());
        }
    }
    archives.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(out.join("libMLIR-C.so"), format!("GROUP ( {} )\n", archives.join(" ")))?;
    println!("cargo:rustc-link-search=native={}", out.display());
    let lib = prefix.join("lib");
    println!("cargo:rustc-link-search=native={}", lib.display());
    // After the archives: linkers that drop unneeded libraries look at the order.
    println!("cargo:rustc-link-lib=MLIR");
    println!("cargo:rustc-link-lib=LLVM-22");
    // This crate's tests find libMLIR at run time; a binary that uses the crate
    // does the same in its build script, with what `links` hands to it.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
    println!("cargo:rpath={}", lib.display());
    Ok(())
}
