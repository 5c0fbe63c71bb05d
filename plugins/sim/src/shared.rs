//! Memory that the host and the device both use: rings, descriptors, signals.
//!
//! Such memory is never seen through a Rust reference, only through single atomic accesses of the width that the
//! HSA layouts give a field.

#![expect(
    clippy::cast_possible_truncation,
    reason = "addresses and sizes of this process fit its pointers"
)]

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

/// The address of a structure that host and device share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shared(u64);

macro_rules! atomic {
    ($doc:literal, $name:ident, $Atomic:ty) => {
        #[doc = $doc]
        #[inline]
        fn $name(&self, offset: u64) -> &$Atomic {
            let address = self.0 + offset;
            debug_assert!(
                address % size_of::<$Atomic>() as u64 == 0,
                "{address:#x} is not aligned"
            );
            // SAFETY: whoever called `Shared::at` promised that the structure is there, aligned and writable.
            // A shared atomic may be changed by anybody at any time, the host included.
            unsafe { &*std::ptr::with_exposed_provenance::<$Atomic>(address as usize) }
        }
    };
}

impl Shared {
    /// Names a structure.
    ///
    /// # Safety
    ///
    /// The structure lies there, at an address that its fields' alignment divides, as long as the result is used.
    /// Fields that are stored to are writable.
    pub(crate) unsafe fn at(address: u64) -> Self {
        Self(address)
    }

    /// Where it is.
    pub(crate) fn address(self) -> u64 {
        self.0
    }

    atomic!("The 16-bit field at an offset.", half, AtomicU16);
    atomic!("The 32-bit field at an offset.", word, AtomicU32);
    atomic!("The 64-bit field at an offset.", double, AtomicU64);

    /// Reads a 16-bit field.
    #[inline]
    pub(crate) fn load_u16(self, offset: u64, order: Ordering) -> u16 {
        self.half(offset).load(order)
    }

    /// Writes a 16-bit field.
    #[inline]
    pub(crate) fn store_u16(self, offset: u64, value: u16, order: Ordering) {
        self.half(offset).store(value, order);
    }

    /// Reads a 32-bit field.
    #[inline]
    pub(crate) fn load_u32(self, offset: u64, order: Ordering) -> u32 {
        self.word(offset).load(order)
    }

    /// Reads a 64-bit field.
    #[inline]
    pub(crate) fn load_u64(self, offset: u64, order: Ordering) -> u64 {
        self.double(offset).load(order)
    }

    /// Writes a 64-bit field.
    #[inline]
    pub(crate) fn store_u64(self, offset: u64, value: u64, order: Ordering) {
        self.double(offset).store(value, order);
    }
}

/// The bits of a word as a signed number.
pub(crate) fn signed(bits: u64) -> i64 {
    i64::from_ne_bytes(bits.to_ne_bytes())
}

/// The bits of a signed number.
pub(crate) fn unsigned(value: i64) -> u64 {
    u64::from_ne_bytes(value.to_ne_bytes())
}
