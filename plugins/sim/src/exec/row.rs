//! One vector register: 64 lanes of 32 bits.
//!
//! A wave owns its rows through boxes. An instruction computes into a spare row and then exchanges
//! it with the destination, as register renaming does in hardware. The result row is therefore never
//! one of the sources, which is what lets the compiler turn the lane loops into vector code.

/// Lanes of a wave.
pub(crate) const LANES: usize = 64;

/// The 64 lanes of a vector register.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row(pub(crate) [u32; LANES]);

impl Row {
    /// All lanes zero.
    pub(crate) const ZERO: Self = Self([0; LANES]);

    /// Every lane holds `value`.
    #[must_use]
    pub(crate) const fn splat(value: u32) -> Self {
        Self([value; LANES])
    }

    /// Sets each lane to all ones where `bits` has a one, to zero elsewhere.
    #[inline(always)]
    pub(crate) fn expand(&mut self, bits: u64) {
        let (low, high) = (bits as u32, (bits >> 32) as u32);
        for (i, lane) in self.0[..32].iter_mut().enumerate() {
            *lane = 0u32.wrapping_sub(u32::from(low & (1 << i) != 0));
        }
        for (i, lane) in self.0[32..].iter_mut().enumerate() {
            *lane = 0u32.wrapping_sub(u32::from(high & (1 << i) != 0));
        }
    }

    /// The reverse of [`Row::expand`] for a row of zeros and all-ones.
    #[must_use]
    #[inline(always)]
    pub(crate) fn compress(&self) -> u64 {
        let (mut low, mut high) = (0, 0);
        for (i, lane) in self.0[..32].iter().enumerate() {
            low |= lane & (1 << i);
        }
        for (i, lane) in self.0[32..].iter().enumerate() {
            high |= lane & (1 << i);
        }
        u64::from(low) | u64::from(high) << 32
    }
}

impl Default for Row {
    fn default() -> Self {
        Self::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compress_undoes_expand() {
        for bits in [0, 1, !0, 1 << 63, 0x8000_0001_0000_0001, 0x0123_4567_89ab_cdef] {
            let mut row = Row::splat(7);
            row.expand(bits);
            assert_eq!(row.compress(), bits);
            assert_eq!(row.0[5], if bits & 32 != 0 { !0 } else { 0 });
        }
    }
}
