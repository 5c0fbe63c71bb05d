//! Code that programs compile when they start is kept in files and used again.
//!
//! HIP compiles kernels of its own for every device in every process (copies and fills, from OpenCL source), and
//! programs that use HIPRTC or OpenCL compile theirs. All of it goes through `amd_comgr_do_action` of AMD's code object
//! manager, `libamd_comgr.so`, and always gives the same: nine tenths of the time from the start of a small HIP program
//! to its first kernel. The code object manager of ROCm 6.4 keeps some results itself.
//!
//! `hansa run` preloads this library and names a directory in `HANSA_COMPILE_CACHE`. The library stands in front of that
//! function:
//!
//! - An action whose result follows from what it is given is looked up by all of that (`key`): data, options, target,
//!   and the files of the compiler itself. What is found is put into the result set as the compiler would have.
//! - Everything else goes on to the code object manager: actions that read files or the clock, a manager of another major
//!   version, any manager while `AMD_COMGR_…` variables ask it to show its work, and every action without
//!   `HANSA_COMPILE_CACHE`.
//! - Only what succeeded is kept. Files are complete or not there, whenever the program is killed; one that is damaged is
//!   compiled again (`entry`, `store`).
//!
//! Programs are linked with the function or look it up with `dlsym`, so both names are exported (`front`, `lookup`); all
//! other look-ups go on to the next `dlsym` untouched. The jump of that is written for x86-64; elsewhere this library is
//! empty.

#![cfg(all(target_arch = "x86_64", target_env = "gnu"))]

mod action;
mod comgr;
mod entry;
mod front;
mod key;
mod lookup;
mod store;
mod target;
