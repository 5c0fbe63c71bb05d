//! The virtual kernel for programs that nobody here wrote.
//!
//! `LD_PRELOAD=libhansa_vkernel_preload.so PROGRAM`: the functions of the C library that programs reach devices and
//! their files by stand in for the real ones. What concerns `/dev/kfd`, render nodes and their sysfs goes to a
//! [`hansa_vkernel::Kernel`] in the process; everything else goes on unchanged, without a lock and without memory,
//! as it may happen in signal handlers, inside `malloc`, and before constructors have run.
//!
//! Files of the described machine are written to a directory once, and paths are redirected into it, so that a
//! program's own reading works, also in its children. Its name depends on the contents, so that one machine has one.
//!
//! | variable | meaning |
//! |---|---|
//! | `VKERNEL_MACHINE` | `gfx900` (default), a list such as `gfx90a:debug,gfx1030` ([`hansa_vkernel::GpuSpec::named`]), or the path of a topology dump |
//! | `VKERNEL_DKMS` | set: with the calls of AMD's own kernel module, which share memory by names |
//! | `VKERNEL_XNACK` | set: devices can replay memory faults |
//! | `VKERNEL_MINOR` | minor number of the interface |
//! | `VKERNEL_FAULTS` | script of failures, see [`hansa_vkernel::Faults::script`] |
//! | `VKERNEL_TRACE` | set: every request is written to standard error |
//! | `VKERNEL_STRICT` | `0`: without the checks of queue buffers that Linux 6.12 brought |
//! | `VKERNEL_BOOKS` | a file to which the end of the process writes what it left behind, and which calls it made |
//! | `VKERNEL_DIR` | directory for the machine's files, instead of one below `/tmp` |
//!
//! A request that no kernel knows is written to standard error in any case.

#[cfg(not(target_os = "linux"))]
compile_error!("the virtual kernel is one for Linux");

mod interpose;
mod next;
mod state;
