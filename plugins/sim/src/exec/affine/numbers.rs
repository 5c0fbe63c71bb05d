//! Arithmetic on formulas, in the vectors of the host: one addition adds two formulas.
//!
//! A formula is linear in the bits of the lane number, so that what distributes over addition modulo 2^32 is done to each
//! of its numbers. Questions about all lanes have answers in the least and the greatest value.

#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "An expression of vector instructions has one reason to be allowed"
)]

use super::{Affine, BITS};
use std::arch::x86_64::{
    __m128i, __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_castsi256_ps, _mm256_castsi256_si128,
    _mm256_cmpeq_epi32, _mm256_load_si256, _mm256_movemask_ps, _mm256_mullo_epi32, _mm256_set1_epi32,
    _mm256_sll_epi32, _mm256_srl_epi32, _mm256_store_si256, _mm256_sub_epi32, _mm256_testz_si256,
    _mm256_zextsi128_si256, _mm_cvtsi128_si64, _mm_cvtsi32_si128,
};

/// The addends of a formula.
static ADDENDS: Affine = Affine([0, 0, !0, !0, !0, !0, !0, !0]);
/// Bits of addends that are negative, or so large that their sum as integers could reach 2^32: six of them, and twice the
/// last for every wave of a [bundle](crate::exec::bundle) but the first.
static LARGE: Affine = {
    let large = 0xfc00_0000;
    Affine([0, 0, large, large, large, large, large, large])
};

/// The numbers of a formula.
pub(crate) trait Numbers: Copy {
    /// From memory.
    fn load(formula: &Affine) -> Self;
    /// To memory.
    fn store(self, formula: &mut Affine);
    /// The same value in all lanes.
    fn uniform(value: u32) -> Self;
    /// Base, and sum of the addends in the high half.
    fn head(self) -> u64;
    /// Whether any bit of a mask is set.
    fn any(self, mask: &Affine) -> bool;
    /// Which addends differ from another formula's, a bit each.
    fn differ(self, other: &Affine) -> u32;
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The difference.
    fn minus(self, other: Self) -> Self;
    /// The product.
    fn times(self, factor: u32) -> Self;
    /// A shift by less than 32.
    fn left(self, by: u32) -> Self;
    /// A shift of each number by less than 32.
    fn right(self, by: u32) -> Self;
    /// Each number's bits under a mask.
    fn and(self, mask: u32) -> Self;

    /// The value of all lanes, if it is the same in all.
    #[inline(always)]
    fn value(self) -> Option<u32> {
        (!self.any(&ADDENDS)).then(|| self.head() as u32)
    }

    /// The least and the greatest value, if the addends are not negative and no lane's sum wraps around.
    #[inline(always)]
    fn rising(self) -> Option<(u32, u32)> {
        if self.any(&LARGE) {
            return None;
        }
        let head = self.head();
        Some((head as u32, (head as u32).checked_add((head >> 32) as u32)?))
    }

    /// The least and the greatest value, if no lane's sum wraps around.
    #[inline(always)]
    fn range(self) -> Option<(u32, u32)> {
        if self.any(&LARGE) {
            return self.to_affine().range_both_ways();
        }
        self.rising()
    }

    /// The formula in memory.
    #[inline(always)]
    fn to_affine(self) -> Affine {
        let mut formula = Affine([0; BITS + 2]);
        self.store(&mut formula);
        formula
    }

    /// The product, if one factor is the same in all lanes.
    #[inline(always)]
    fn product(self, other: Self) -> Option<Self> {
        if let Some(factor) = self.value() {
            return Some(other.times(factor));
        }
        Some(self.times(other.value()?))
    }

    /// What `f`, which never falls as its argument rises, gives for every lane, if it is one result.
    #[inline(always)]
    fn monotone<T: PartialEq>(self, f: impl Fn(u32) -> T) -> Option<T> {
        let (least, most) = self.range()?;
        let result = f(least);
        (result == f(most)).then_some(result)
    }

    /// The same for functions of signed numbers.
    #[inline(always)]
    fn monotone_signed<T: PartialEq>(self, f: impl Fn(i32) -> T) -> Option<T> {
        // Where they have one sign, the order is the same.
        let (least, most) = self.range()?;
        let result = f(least as i32);
        ((least ^ most) >> 31 == 0 && result == f(most as i32)).then_some(result)
    }

    /// The formula, if no bit is set in two of base and addends: adding them is then the same as `or`, and bits may be moved
    /// and masked in each.
    #[inline(always)]
    fn of_own_bits(self) -> Option<Self> {
        self.to_affine().has_own_bits().then_some(self)
    }
}

/// Numbers in a general vector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain([u32; BITS + 2]);

impl Plain {
    #[inline(always)]
    fn each(self, f: impl Fn(u32) -> u32) -> Self {
        Self(self.0.map(f))
    }

    #[inline(always)]
    fn both(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl Numbers for Plain {
    #[inline(always)]
    fn load(formula: &Affine) -> Self {
        Self(formula.0)
    }
    #[inline(always)]
    fn store(self, formula: &mut Affine) {
        formula.0 = self.0;
    }
    #[inline(always)]
    fn uniform(value: u32) -> Self {
        Self([value, 0, 0, 0, 0, 0, 0, 0])
    }
    #[inline(always)]
    fn head(self) -> u64 {
        u64::from(self.0[0]) | u64::from(self.0[1]) << 32
    }
    #[inline(always)]
    fn any(self, mask: &Affine) -> bool {
        self.0
            .iter()
            .zip(&mask.0)
            .any(|(number, mask)| number & mask != 0)
    }
    #[inline(always)]
    fn differ(self, other: &Affine) -> u32 {
        (0..BITS).fold(0, |bits, bit| {
            bits | u32::from(self.0[2 + bit] != other.0[2 + bit]) << bit
        })
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.both(other, u32::wrapping_add)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.both(other, u32::wrapping_sub)
    }
    #[inline(always)]
    fn times(self, factor: u32) -> Self {
        self.each(|number| number.wrapping_mul(factor))
    }
    #[inline(always)]
    fn left(self, by: u32) -> Self {
        self.each(|number| number << (by & 31))
    }
    #[inline(always)]
    fn right(self, by: u32) -> Self {
        self.each(|number| number >> (by & 31))
    }
    #[inline(always)]
    fn and(self, mask: u32) -> Self {
        self.each(|number| number & mask)
    }
}

/// Numbers in a vector of AVX2. The type is used in handlers of levels with it only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vector(__m256i);

#[inline(always)]
fn count(by: u32) -> __m128i {
    // SAFETY: every x86-64 has SSE2.
    unsafe { _mm_cvtsi32_si128(by as i32 & 31) }
}

impl Numbers for Vector {
    #[inline(always)]
    fn load(formula: &Affine) -> Self {
        // SAFETY: a handler of this level runs where the host has AVX2; a formula has the size and alignment of a vector.
        Self(unsafe { _mm256_load_si256((&raw const formula.0).cast()) })
    }
    #[inline(always)]
    fn store(self, formula: &mut Affine) {
        // SAFETY: as above.
        unsafe { _mm256_store_si256((&raw mut formula.0).cast(), self.0) };
    }
    #[inline(always)]
    fn uniform(value: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_zextsi128_si256(_mm_cvtsi32_si128(value as i32)) })
    }
    #[inline(always)]
    fn head(self) -> u64 {
        // SAFETY: as above.
        unsafe { _mm_cvtsi128_si64(_mm256_castsi256_si128(self.0)) as u64 }
    }
    #[inline(always)]
    fn any(self, mask: &Affine) -> bool {
        // SAFETY: as above.
        unsafe { _mm256_testz_si256(self.0, Self::load(mask).0) == 0 }
    }
    #[inline(always)]
    fn differ(self, other: &Affine) -> u32 {
        // SAFETY: as above.
        let equal = unsafe {
            let equal = _mm256_cmpeq_epi32(self.0, Self::load(other).0);
            _mm256_movemask_ps(_mm256_castsi256_ps(equal))
        };
        !(equal as u32) >> 2 & ((1 << BITS) - 1)
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_add_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_sub_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn times(self, factor: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_mullo_epi32(self.0, _mm256_set1_epi32(factor as i32)) })
    }
    #[inline(always)]
    fn left(self, by: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_sll_epi32(self.0, count(by)) })
    }
    #[inline(always)]
    fn right(self, by: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_srl_epi32(self.0, count(by)) })
    }
    #[inline(always)]
    fn and(self, mask: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_and_si256(self.0, _mm256_set1_epi32(mask as i32)) })
    }
}
