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

impl Resource {
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

    /// An offset in a record, from the sum of register and immediate. Where records are counted, and so the offset is not
    /// checked, it has 32 bits: compilers put the distance to the end of an array into the immediate, and a negative
    /// number into the register.
    #[inline(always)]
    pub(crate) fn within(&self, sum: u64) -> u64 {
        if self.stride == 0 {
            sum
        } else {
            sum & 0xffff_ffff
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

    /// Whether an access of `bytes` is inside. `place` is what [`Resource::offset`] gave.
    #[inline(always)]
    pub(crate) fn contains(&self, index: u64, place: u64, bytes: u64) -> bool {
        if self.stride == 0 {
            place + bytes <= self.records
        } else {
            index < self.records
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
        assert_eq!(scratch.within(0xffff_fff8 + 136), 128);
    }

    #[test]
    fn raw_buffers_are_checked_in_bytes_and_structured_ones_in_records() {
        let raw = Resource::new([0, 0, 16, 0]);
        assert!(raw.contains(0, 12, 4) && !raw.contains(0, 13, 4));
        assert_eq!(raw.within(0xffff_fff8 + 136), 0x1_0000_0080);
        let structured = Resource::new([0, 8 << 16, 16, 0]);
        assert!(structured.contains(15, 124, 4) && !structured.contains(16, 128, 4));
        assert_eq!(structured.offset(2, 4), 20);
    }
}
