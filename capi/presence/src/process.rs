//! The one command that is answered: Debian's `rocminfo` asks `lsmod` for the driver's module. `lsmod` itself lists
//! what the kernel has, as always.

use crate::next::next;
use crate::nodes;
use core::ffi::{c_char, CStr};
use libc::FILE;

/// What `rocminfo` runs.
const QUESTION: &[u8] = b"lsmod | grep amdgpu";
/// What answers it: a line that names the module, which is all that `rocminfo` looks at.
const ANSWER: &CStr = c"echo amdgpu";

/// The C function of this name.
///
/// # Safety
///
/// As libc's.
#[no_mangle]
pub(crate) unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
    let asked = !command.is_null() && nodes::answering() && {
        // SAFETY: a command is a C string.
        unsafe { CStr::from_ptr(command) }.to_bytes() == QUESTION
    };
    let command = if asked { ANSWER.as_ptr() } else { command };
    next!(
        c"popen",
        core::ptr::null_mut(),
        fn(*const c_char, *const c_char) -> *mut FILE,
        command,
        mode
    )
}
