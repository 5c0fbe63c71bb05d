//! The AMD extension: `hsa_amd_*`, the loader tables `hsa_ven_amd_loader_*`, and `hsa_ven_amd_pcs_*`.
//!
//! A function here checks what can be seen from its arguments alone: NULL, sizes, numbers of enumerations, reserved
//! fields. Then it asks the runtime through [`RuntimeServices`](hansa_plugin_api::RuntimeServices), which knows
//! handles, memory and states, and answers with its status. Interface 1.34 of `hsa_ext_amd.h`, loader extension 1.4.
//!
//! Where AMD's runtime (measured: 5.2.3) and its header differ, the header wins, unless programs rely on the other:
//! freeing NULL and unlocking what is not locked succeed, and a pointer that nobody knows is an answer, not an error.

mod agents;
mod args;
mod batch;
mod callbacks;
mod copies;
mod entry;
mod extension;
mod files;
mod images;
mod interop;
mod ipc;
mod loader;
mod memory;
mod pc_sampling;
mod pointers;
mod pools;
mod profiling;
mod queue_create;
mod queues;
mod semaphores;
mod signals;
mod svm;
mod tools;
mod vmem;

pub use extension::AmdPlugin;
