//! Requests of a kernel: numbers, and the structures that go with them.
//!
//! Every kernel-facing plugin declares its kernel's own requests, in the header's order under the header's names, padding spelt
//! out. This is the means to do so: [`layout!`](crate::layout) checks size and offsets, [`request!`](crate::request) also
//! pairs the structure with its number, which is computed from direction, letter, number and size as `ioctl(2)` does.

/// Data goes from the caller to the kernel.
pub const WRITE: u32 = 1;
/// Data comes from the kernel.
pub const READ: u32 = 2;
/// Data goes both ways.
pub const BOTH: u32 = READ | WRITE;

/// A request number: direction, bytes of the argument, letter and number (`_IOC` of `asm-generic/ioctl.h`).
#[must_use]
pub const fn code(direction: u32, group: u8, number: u8, bytes: usize) -> u32 {
    assert!(bytes < 1 << 14, "the size field has 14 bits");
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    let size = (bytes as u32) << 16;
    direction << 30 | size | (group as u32) << 8 | number as u32
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

/// Declares a structure of integers and checks its size, and the offset of each field.
#[macro_export]
macro_rules! layout {
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

/// Declares a structure as [`layout!`](crate::layout) does, and its number in the group of a letter.
#[macro_export]
macro_rules! request {
    (
        [$group:expr]
        $(#[$meta:meta])*
        $Name:ident = $number:literal, $direction:expr, $kernel_name:literal, size $size:literal
        $fields:tt
    ) => {
        $crate::layout! { $(#[$meta])* $Name, size $size $fields }

        // SAFETY: the number and the structure stand together in the kernel's header, which the checks beside the
        // structure compare; the fields are integers.
        unsafe impl $crate::ioctl::Request for $Name {
            const CODE: u32 = $crate::ioctl::code($direction, $group, $number, size_of::<Self>());
            const NAME: &'static str = $kernel_name;
        }
    };
}
