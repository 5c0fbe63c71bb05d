//! The rendezvous with a debugger: `_amdgpu_r_debug`, laid out as the C library's `struct r_debug`.
//!
//! A debugger finds the object by name, reads the list of loaded code objects, and sets a breakpoint at
//! `r_brk`, which is called before and after each change. Version 11 is that of the list's meaning and of the trap
//! handler's registers.

use std::cell::UnsafeCell;
use std::ffi::c_void;

/// `r_version` that debuggers know.
const VERSION: i32 = 11;
/// `RT_CONSISTENT`: no change is under way.
const CONSISTENT: i32 = 0;

/// `struct r_debug`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RDebug {
    version: i32,
    /// First `struct link_map` of the list.
    map: *mut c_void,
    breakpoint: extern "C" fn(),
    state: i32,
    linker_base: usize,
}

const _: () = {
    assert!(size_of::<RDebug>() == 40);
    assert!(std::mem::offset_of!(RDebug, map) == 8);
    assert!(std::mem::offset_of!(RDebug, breakpoint) == 16);
    assert!(std::mem::offset_of!(RDebug, state) == 24);
};

/// An object that a debugger reads from outside.
#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct Shared(UnsafeCell<RDebug>);

// SAFETY: nothing in this process writes to it yet; a debugger looks while the process is stopped.
unsafe impl Sync for Shared {}

/// The object behind the symbol `_amdgpu_r_debug`.
pub(crate) static R_DEBUG: Shared = Shared(UnsafeCell::new(RDebug {
    version: VERSION,
    map: std::ptr::null_mut(),
    breakpoint: changed,
    state: CONSISTENT,
    linker_base: 0,
}));

/// Where a debugger sets its breakpoint.
#[inline(never)]
extern "C" fn changed() {
    // Keeps the function from being merged with another empty one, or left out.
    std::hint::black_box(());
}
