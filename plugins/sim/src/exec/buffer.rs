//! Buffer addressing: the 128-bit resource descriptor and the address it gives a lane.
//!
//! Descriptor on GFX9: bits 0-47 base, 48-61 stride, 63 swizzle; 64-95 number of records; 108-110 number format
//! (12-14 of the last dword), 15-18 data format, 21-22 index stride, 23 add-thread-id. With add-thread-id the
//! data format bits are the stride's bits 14 to 17. Swizzled buffers interleave `index stride` records four bytes at a time.

/// A buffer resource descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resource {
    /// First byte.
    pub(crate) base: u64,
    /// Bytes from record to record.
    pub(crate) stride: u64,
    /// Records, or bytes when there is no stride.
    pub(crate) records: u64,
    /// Whether records are interleaved.
    pub(crate) swizzled: bool,
    /// Records interleaved together.
    pub(crate) index_stride: u64,
    /// Whether the lane number is added to the index.
    pub(crate) add_thread_id: bool,
    /// The last dword, which holds formats.
    pub(crate) word3: u32,
}

/// An offset in a record, from the sum of register and immediate. It has 32 bits: compilers put the distance to the end of an
/// array into the immediate, and a negative number into the register.
#[inline(always)]
pub(crate) fn within(sum: u64) -> u64 {
    sum & 0xffff_ffff
}

/// What says whether an access is inside a buffer. These are the rules of GFX9 and CDNA as AMD found them on hardware for its
/// simulator (ROCm/rocm-systems, pull request 10928).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Nothing: the lane number makes the index.
    Never,
    /// The index, which must be less than the number of records.
    Record,
    /// The last byte, counted from the base: the scalar offset and the immediate count as well.
    Byte,
}

impl Resource {
    /// What an access is checked by; `indexed` says whether a register has the index.
    #[inline(always)]
    pub(crate) fn check(&self, indexed: bool) -> Check {
        match () {
            () if self.add_thread_id => Check::Never,
            () if indexed && self.stride != 0 => Check::Record,
            () => Check::Byte,
        }
    }

    /// Reads the four dwords.
    #[inline(always)]
    pub(crate) fn new(words: [u32; 4]) -> Self {
        let add_thread_id = words[3] >> 23 & 1 != 0;
        let wide_stride = if add_thread_id { words[3] >> 15 & 15 } else { 0 };
        Self {
            base: u64::from(words[0]) | u64::from(words[1] & 0xffff) << 32,
            stride: (words[1] >> 16 & 0x3fff | wide_stride << 14).into(),
            records: words[2].into(),
            swizzled: words[1] >> 31 != 0,
            index_stride: 8 << (words[3] >> 21 & 3),
            add_thread_id,
            word3: words[3],
        }
    }

    /// Offset from the base of byte `offset` of record `index`.
    #[inline(always)]
    pub(crate) fn offset(&self, index: u64, offset: u64) -> u64 {
        if self.swizzled {
            let (high, low) = (index / self.index_stride, index % self.index_stride);
            (high * self.stride + (offset & !3)) * self.index_stride + low * 4 + (offset & 3)
        } else {
            index * self.stride + offset
        }
    }

    /// Bytes from one dword of a lane to the next.
    #[inline(always)]
    pub(crate) fn pitch(&self) -> u64 {
        if self.swizzled {
            4 * self.index_stride
        } else {
            4
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scratch_descriptor_interleaves_64_lanes() {
        let scratch = Resource::new([0x1000, 0x8000_0001, 0x10_0000, 0x00ea_7fac]);
        assert!(scratch.swizzled && scratch.add_thread_id);
        assert_eq!((scratch.base, scratch.index_stride), (0x1_0000_1000, 64));
        assert_eq!(scratch.offset(3, 0), 12);
        assert_eq!(scratch.offset(3, 9), 2 * 256 + 12 + 1);
        assert_eq!(scratch.pitch(), 256);
        // -8 and 136: the last of seventeen doubles.
        assert_eq!(within(0xffff_fff8 + 136), 128);
    }

    #[test]
    fn records_are_checked_where_a_register_has_the_index_of_one() {
        let raw = Resource::new([0, 0, 16, 0]);
        assert_eq!((raw.check(false), raw.check(true)), (Check::Byte, Check::Byte));
        let structured = Resource::new([0, 8 << 16, 16, 0]);
        assert_eq!(
            (structured.check(false), structured.check(true)),
            (Check::Byte, Check::Record)
        );
        assert_eq!(structured.offset(2, 4), 20);
        let of_lanes = Resource::new([0, 8 << 16, 16, 1 << 23]);
        assert_eq!(of_lanes.check(true), Check::Never);
    }
}
