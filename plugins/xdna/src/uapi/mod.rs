//! The kernel's interface: structures and numbers.
//!
//! Source of the facts: the kernel's `include/uapi/drm/amdxdna_accel.h` (drivers 0.0 to 0.16 and the one out of the kernel's
//! tree) and `include/uapi/drm/drm.h`, group letter `d`. Structures stand in the header's order under the header's names,
//! padding spelt out, a size and offset check beside each. The kernel looks at the low byte of a number only, takes
//! shorter and longer structures than its own, and fills with zeros.
//!
//! The means to declare them are those of the other kernel-facing plugin, on purpose once more: a plugin's view of its kernel
//! is its own.

pub mod accel;
pub mod drm;

/// The letter of the group.
pub const GROUP: u8 = b'd';

/// Data goes from the caller to the kernel.
pub const WRITE: u32 = 1;
/// Data goes both ways.
pub const BOTH: u32 = 3;

/// A request number: direction, bytes of the argument, letter and number (`_IOC` of `asm-generic/ioctl.h`).
#[must_use]
pub const fn code(direction: u32, number: u8, bytes: usize) -> u32 {
    assert!(bytes < 1 << 14, "the size field has 14 bits");
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    let size = (bytes as u32) << 16;
    direction << 30 | size | (GROUP as u32) << 8 | number as u32
}

/// A structure that goes with one request number.
///
/// # Safety
///
/// `CODE` must be the number whose argument is a `Self`, and every bit pattern must be a valid `Self`.
pub unsafe trait Request: Copy + Default {
    /// The number.
    const CODE: u32;
    /// The kernel's name for it.
    const NAME: &'static str;
}

/// Declares a structure and the checks of its layout.
macro_rules! structure {
    (
        $(#[$meta:meta])*
        $Name:ident, size $size:literal
        { $( $(#[$fmeta:meta])* $field:ident : $Type:ty = $offset:literal ),* $(,)? }
    ) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $Name { $( $(#[$fmeta])* pub $field: $Type, )* }

        const _: () = {
            assert!(size_of::<$Name>() == $size);
            $( assert!(std::mem::offset_of!($Name, $field) == $offset); )*
        };
    };
}
pub(crate) use structure;

/// Declares a structure and its number.
macro_rules! request {
    (
        $(#[$meta:meta])*
        $Name:ident = $number:literal, $direction:expr, $kernel_name:literal, size $size:literal
        { $( $(#[$fmeta:meta])* $field:ident : $Type:ty = $offset:literal ),* $(,)? }
    ) => {
        $crate::uapi::structure! {
            $(#[$meta])* $Name, size $size { $( $(#[$fmeta])* $field : $Type = $offset ),* }
        }

        // SAFETY: the number and the structure stand together in the kernel's header, which the checks beside the
        // structure compare; the fields are integers.
        unsafe impl $crate::uapi::Request for $Name {
            const CODE: u32 = $crate::uapi::code($direction, $number, size_of::<Self>());
            const NAME: &'static str = $kernel_name;
        }
    };
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
