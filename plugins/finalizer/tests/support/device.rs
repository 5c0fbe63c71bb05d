//! Runs kernels of a code object on the software GPU's engine, without a runtime.

#[path = "../../../sim/tests/exec_support/mod.rs"]
mod exec_support;

pub use exec_support::{Arg, Launch, Memory, Outside, Program};
