//! The MODE register: rounding, denormals, clamping, IEEE rules.
//!
//! Bits 1:0 round single precision, 3:2 half and double: 0 to nearest even, 1 up, 2 down, 3 to zero.
//! Bits 5:4 say what single precision denormals may do, 7:6 half and double: bit 0 lets them in, bit
//! 1 lets them out. Bit 8 is DX10_CLAMP (clamp turns NaN into 0), bit 9 is IEEE (signalling NaNs are
//! quieted by min and max, output modifiers are off), bit 23 keeps half overflow finite.

use super::scalar_float::Round;

/// A value of the MODE register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mode(pub(crate) u32);

/// Bits of [`Mode::plain`].
pub(crate) mod plain {
    /// Single precision denormals are kept.
    pub(crate) const F32_DENORMALS: u8 = 1;
    /// Half and double denormals are kept.
    pub(crate) const F64_DENORMALS: u8 = 2;
    /// Single precision rounds to nearest even.
    pub(crate) const F32_NEAREST: u8 = 4;
    /// Half and double precision round to nearest even, overflow included.
    pub(crate) const F64_NEAREST: u8 = 8;
}

impl Mode {
    /// In which respects host arithmetic does what the mode asks, as [`plain`] bits.
    pub(crate) fn plain(self) -> u8 {
        let mut bits = 0;
        if self.0 >> 4 & 3 == 3 {
            bits |= plain::F32_DENORMALS;
        }
        if self.0 >> 6 & 3 == 3 {
            bits |= plain::F64_DENORMALS;
        }
        if self.0 & 3 == 0 {
            bits |= plain::F32_NEAREST;
        }
        if self.0 >> 2 & 3 == 0 && !self.fp16_overflow() {
            bits |= plain::F64_NEAREST;
        }
        bits
    }

    /// How single precision results are rounded.
    #[inline(always)]
    pub(crate) fn round32(self) -> Round {
        Round::from_bits(self.0)
    }

    /// How half and double precision results are rounded.
    #[inline(always)]
    pub(crate) fn round64(self) -> Round {
        Round::from_bits(self.0 >> 2)
    }

    /// Whether single precision denormal inputs become zero.
    #[inline(always)]
    pub(crate) fn flush32_in(self) -> bool {
        self.0 & 0x10 == 0
    }

    /// Whether single precision denormal results become zero.
    #[inline(always)]
    pub(crate) fn flush32_out(self) -> bool {
        self.0 & 0x20 == 0
    }

    /// Whether half and double precision denormal inputs become zero.
    #[inline(always)]
    pub(crate) fn flush64_in(self) -> bool {
        self.0 & 0x40 == 0
    }

    /// Whether half and double precision denormal results become zero.
    #[inline(always)]
    pub(crate) fn flush64_out(self) -> bool {
        self.0 & 0x80 == 0
    }

    /// Whether clamping turns NaN into zero.
    #[inline(always)]
    pub(crate) fn dx10_clamp(self) -> bool {
        self.0 & 0x100 != 0
    }

    /// Whether IEEE rules hold for signalling NaNs.
    #[inline(always)]
    pub(crate) fn ieee(self) -> bool {
        self.0 & 0x200 != 0
    }

    /// Whether half precision overflow gives the largest number.
    #[inline(always)]
    pub(crate) fn fp16_overflow(self) -> bool {
        self.0 & 0x80_0000 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_of_compute_kernels_is_plain() {
        assert_eq!(Mode(0x3f0).plain(), 15);
        assert_eq!(Mode(0x3c0).plain(), 14);
        assert_eq!(Mode(0x3f1).plain(), 11);
        assert_eq!(Mode(0x80_03f0).plain(), 7);
    }
}
