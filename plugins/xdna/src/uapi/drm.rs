//! What all DRM drivers have: names, buffer handles, fences.

use super::{request, BOTH, WRITE};

request! {
    /// Asks for the driver's name and version. Lengths go in as room and come out as what there is.
    Version = 0x00, BOTH, "VERSION", size 64 {
        /// Major version.
        version_major: i32 = 0,
        /// Minor version.
        version_minor: i32 = 4,
        /// Patch level.
        version_patchlevel: i32 = 8,
        /// Zero.
        pad: u32 = 12,
        /// Bytes of the name.
        name_len: u64 = 16,
        /// Where it goes.
        name: u64 = 24,
        /// Bytes of the date.
        date_len: u64 = 32,
        /// Where it goes.
        date: u64 = 40,
        /// Bytes of the description.
        desc_len: u64 = 48,
        /// Where it goes.
        desc: u64 = 56,
    }
}

request! {
    /// Gives a buffer handle back.
    GemClose = 0x09, WRITE, "GEM_CLOSE", size 8 {
        /// The handle.
        handle: u32 = 0,
        /// Zero.
        pad: u32 = 4,
    }
}

request! {
    /// Makes a dma-buf of a buffer.
    PrimeHandleToFd = 0x2d, BOTH, "PRIME_HANDLE_TO_FD", size 12 {
        /// The handle.
        handle: u32 = 0,
        /// Flags of the file: see [`PRIME_FLAGS`].
        flags: u32 = 4,
        /// The file.
        fd: i32 = 8,
    }
}

request! {
    /// Makes a buffer handle of a dma-buf. A buffer that this file has a handle of keeps that one.
    PrimeFdToHandle = 0x2e, BOTH, "PRIME_FD_TO_HANDLE", size 12 {
        /// The handle.
        handle: u32 = 0,
        /// Zero.
        flags: u32 = 4,
        /// The file.
        fd: i32 = 8,
    }
}

request! {
    /// Waits until fences at points of timelines are signalled.
    SyncobjTimelineWait = 0xca, BOTH, "SYNCOBJ_TIMELINE_WAIT", size 40 {
        /// Address of the handles.
        handles: u64 = 0,
        /// Address of the points.
        points: u64 = 8,
        /// When to give up, on the monotonic clock, in nanoseconds.
        timeout_nsec: i64 = 16,
        /// How many handles.
        count_handles: u32 = 24,
        /// Zero: all of them, and each has a fence at its point already.
        flags: u32 = 28,
        /// Which came first.
        first_signaled: u32 = 32,
        /// Zero.
        pad: u32 = 36,
    }
}

/// `DRM_CLOEXEC | DRM_RDWR`: `O_CLOEXEC` and `O_RDWR`.
pub const PRIME_FLAGS: u32 = 0o200_0002;
