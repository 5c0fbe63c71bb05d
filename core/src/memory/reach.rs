//! Addresses that all devices reach.
//!
//! Host memory has one address for the host and for devices. Where a device does not reach all of the host's addresses, memory
//! that it has to see lies below the end of those that it reaches. Devices come and go with the runtime; what was mapped before
//! stays where it is.

use hansa_plugin_api::low;
use rustix::mm::{mmap_anonymous, mprotect, MapFlags, MprotectFlags, ProtFlags};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

/// End of the addresses; 0 where devices reach all.
static END: AtomicU64 = AtomicU64::new(0);

/// Sets the end of the addresses that all devices reach.
pub(crate) fn set_end(end: Option<u64>) {
    END.store(end.unwrap_or(0), Ordering::Release);
}

/// Maps new pages where all devices reach them.
pub(crate) fn map(bytes: usize, access: ProtFlags) -> rustix::io::Result<*mut c_void> {
    let end = END.load(Ordering::Acquire);
    if end == 0 {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new range that nothing uses yet.
        return unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, access, flags) };
    }
    let found = low::reserve_below(end, bytes).ok_or(rustix::io::Errno::NOMEM)?;
    let access = MprotectFlags::from_bits_retain(access.bits());
    // SAFETY: the range was just reserved and nobody was told of it.
    unsafe { mprotect(found.cast(), bytes, access) }?;
    Ok(found.cast())
}
