//! `cargo xtask test`: one gate after the other; the first that fails ends the run.

use crate::process::cargo;
use crate::{setup, tidy};

pub(crate) fn run() -> anyhow::Result<()> {
    let complete = setup::install_missing()?;
    tidy::check()?;
    cargo(&["fmt", "--all", "--check"], &[])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])?;
    cargo(
        &["doc", "--workspace", "--no-deps", "--document-private-items"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )?;
    cargo(&["test", "--workspace"], &[])?;
    if !complete {
        eprintln!("all tests passed, but those in lit-tests did not run: see what is missing above");
    }
    Ok(())
}
