//! The kernel's interface: structures and numbers.
//!
//! Source of the facts: the kernel's `include/uapi/drm/amdxdna_accel.h` (drivers 0.0 to 0.16 and the one out of the kernel's
//! tree) and `include/uapi/drm/drm.h`, group letter `d`. Structures stand in the header's order under the header's names,
//! padding spelt out, a size and offset check beside each. The kernel looks at the low byte of a number only, takes
//! shorter and longer structures than its own, and fills with zeros.

pub mod accel;
pub mod drm;

/// The letter of the group.
pub const GROUP: u8 = b'd';

pub use hansa_plugin_api::ioctl::{Request, BOTH, WRITE};
pub(crate) use hansa_plugin_api::layout as structure;

/// Declares a structure and its number in the group.
macro_rules! request {
    ($($declaration:tt)*) => { hansa_plugin_api::request! { [$crate::uapi::GROUP] $($declaration)* } };
}
pub(crate) use request;

#[cfg(test)]
mod tests {
    use super::{accel::*, drm::*, Request};

    /// The numbers as a C compiler gives them for the headers.
    #[test]
    fn numbers_are_those_of_the_headers() {
        let ours = [
            (CreateHwctx::CODE, 0xc038_6440),
            (DestroyHwctx::CODE, 0xc008_6441),
            (ConfigHwctx::CODE, 0xc018_6442),
            (CreateBo::CODE, 0xc020_6443),
            (GetBoInfo::CODE, 0xc030_6444),
            (SyncBo::CODE, 0xc018_6445),
            (ExecCmd::CODE, 0xc038_6446),
            (GetInfo::CODE, 0xc010_6447),
            (WaitCmd::CODE, 0xc010_6449),
            (GemClose::CODE, 0x4008_6409),
            (PrimeHandleToFd::CODE, 0xc00c_642d),
            (PrimeFdToHandle::CODE, 0xc00c_642e),
            (SyncobjTimelineWait::CODE, 0xc028_64ca),
            (Version::CODE, 0xc040_6400),
        ];
        for (ours, header) in ours {
            assert_eq!(ours, header, "{ours:#x} and {header:#x}");
        }
    }
}
