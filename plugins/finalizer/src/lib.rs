//! The finalizer extension: `hsa_ext_program_*` (HSA Runtime PRM 1.2, section 3.1). HSAIL modules in their binary form
//! go in, a code object for an instruction set comes out.
//!
//! A program is a list of modules ([`program`]). To finalize it is to
//!
//! 1. link its modules: [`Linked`](program::Linked) knows for every symbol where its definition is;
//! 2. translate them to LLVM IR as text: `translate::module(&Linked, &Target) -> Result<String, translate::Error>`;
//! 3. compile that: `backend::compile(ir: &str, isa: &str, &backend::Options) -> Result<Vec<u8>, backend::Error>`.
//!
//! [`brig`] reads the modules. Their bytes come from the program, which may hand over anything: they are copied once,
//! and the copy is checked before anything else looks at it.

pub mod backend;
pub mod brig;
pub mod program;
pub mod translate;

mod cache;
mod code;
mod entry;
mod extension;
mod finalizer;
mod functions;
mod memory;

pub use extension::FinalizerPlugin;
