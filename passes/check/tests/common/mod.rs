//! What the checker's tests share.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

pub mod build;
pub mod naive;
pub mod programs;
pub mod remat;
