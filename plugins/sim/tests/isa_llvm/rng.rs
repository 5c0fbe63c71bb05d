//! A small deterministic generator: a failing case must fail again.

/// Xorshift with multiplication, 64 bits of state.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn bits(&mut self, count: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        u32::try_from(high >> (32 - count)).unwrap_or_default()
    }

    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.bits(24) % end
    }

    /// True once in `times`.
    pub(crate) fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// `count` bits, each set once in three times.
    pub(crate) fn sparse(&mut self, count: u32) -> u32 {
        (0..count).map(|n| u32::from(self.one_in(3)) << n).sum()
    }

    /// One of a list.
    pub(crate) fn pick(&mut self, list: &[u32]) -> u32 {
        list[self.below(u32::try_from(list.len()).unwrap_or(1)) as usize]
    }
}
