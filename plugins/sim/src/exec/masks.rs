//! Rows against masks: questions about 64 lanes whose answer is a mask, for which hosts have instructions that
//! compilers do not find by themselves.

use super::row::{Row, LANES};

/// For each lane but the last whether the next lane holds `stride` more, and whether it holds the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    /// The next lane holds `stride` more.
    pub(crate) up: u64,
    /// The next lane holds the same.
    pub(crate) level: u64,
}

/// Lanes that have a next lane.
const NOT_LAST: u64 = !(1 << 63);

/// The answers without help of the host.
pub(crate) mod portable {
    use super::{Row, Steps, LANES};

    /// [`Steps`] of a row.
    pub(crate) fn steps(row: &Row, stride: u32) -> Steps {
        let (mut up, mut level) = (Row::ZERO, Row::ZERO);
        for i in 0..LANES - 1 {
            let step = row.0[i + 1].wrapping_sub(row.0[i]);
            up.0[i] = 0u32.wrapping_sub((step == stride).into());
            level.0[i] = 0u32.wrapping_sub((step == 0).into());
        }
        Steps {
            up: up.compress(),
            level: level.compress(),
        }
    }

    /// Lanes that hold `value`.
    pub(crate) fn equal(row: &Row, value: u32) -> u64 {
        let mut equal = Row::ZERO;
        for (to, lane) in equal.0.iter_mut().zip(&row.0) {
            *to = 0u32.wrapping_sub((*lane == value).into());
        }
        equal.compress()
    }
}

/// The answers by AVX2.
pub(crate) mod avx2 {
    use super::{Row, Steps, NOT_LAST};
    use std::arch::x86_64::{
        __m256i, _mm256_blend_epi32, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_movemask_ps,
        _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_setzero_si256,
        _mm256_sub_epi32,
    };

    fn blocks(row: &Row) -> &[__m256i; 8] {
        // SAFETY: as many bytes, of larger alignment, and any bits are a value.
        unsafe { &*(&raw const row.0).cast() }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(block: __m256i, at: usize) -> u64 {
        let bits = _mm256_movemask_ps(_mm256_castsi256_ps(block)) as u32;
        u64::from(bits) << (8 * at)
    }

    /// [`Row::compress`].
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn compress(row: &Row) -> u64 {
        let mut bits = 0;
        for (at, block) in blocks(row).iter().enumerate() {
            bits |= mask(*block, at);
        }
        bits
    }

    /// [`Steps`] of a row.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn steps(row: &Row, stride: u32) -> Steps {
        let (stride, zero) = (_mm256_set1_epi32(stride as i32), _mm256_setzero_si256());
        let around = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
        let blocks = blocks(row);
        let mut steps = Steps { up: 0, level: 0 };
        for (at, block) in blocks.iter().enumerate() {
            // Both turned by one lane: the first lane of the following block comes to the end.
            let following = _mm256_permutevar8x32_epi32(blocks[(at + 1) & 7], around);
            let within = _mm256_permutevar8x32_epi32(*block, around);
            let next = _mm256_blend_epi32::<0x80>(within, following);
            let step = _mm256_sub_epi32(next, *block);
            steps.up |= mask(_mm256_cmpeq_epi32(step, stride), at);
            steps.level |= mask(_mm256_cmpeq_epi32(step, zero), at);
        }
        steps.up &= NOT_LAST;
        steps.level &= NOT_LAST;
        steps
    }

    /// Lanes that hold `value`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn equal(row: &Row, value: u32) -> u64 {
        let value = _mm256_set1_epi32(value as i32);
        let mut bits = 0;
        for (at, block) in blocks(row).iter().enumerate() {
            bits |= mask(_mm256_cmpeq_epi32(*block, value), at);
        }
        bits
    }
}

/// The answers by AVX-512.
pub(crate) mod avx512 {
    use super::{Row, Steps, NOT_LAST};
    use std::arch::x86_64::{
        __m512i, _mm512_alignr_epi32, _mm512_cmpeq_epi32_mask, _mm512_movepi32_mask, _mm512_movm_epi32,
        _mm512_set1_epi32, _mm512_setzero_si512, _mm512_sub_epi32,
    };

    fn blocks(row: &Row) -> &[__m512i; 4] {
        // SAFETY: as many bytes, of the same alignment, and any bits are a value.
        unsafe { &*(&raw const row.0).cast() }
    }

    fn blocks_mut(row: &mut Row) -> &mut [__m512i; 4] {
        // SAFETY: as many bytes, of the same alignment, and any bits are a value of both.
        unsafe { &mut *(&raw mut row.0).cast() }
    }

    /// [`Row::compress`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn compress(row: &Row) -> u64 {
        let mut bits = 0;
        for (at, block) in blocks(row).iter().enumerate() {
            bits |= u64::from(_mm512_movepi32_mask(*block)) << (16 * at);
        }
        bits
    }

    /// [`Row::expand`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn expand(row: &mut Row, bits: u64) {
        for (at, block) in blocks_mut(row).iter_mut().enumerate() {
            *block = _mm512_movm_epi32((bits >> (16 * at)) as u16);
        }
    }

    /// [`Steps`] of a row.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn steps(row: &Row, stride: u32) -> Steps {
        let (stride, zero) = (_mm512_set1_epi32(stride as i32), _mm512_setzero_si512());
        let blocks = blocks(row);
        let mut steps = Steps { up: 0, level: 0 };
        for (at, block) in blocks.iter().enumerate() {
            let next = _mm512_alignr_epi32::<1>(blocks[(at + 1) & 3], *block);
            let step = _mm512_sub_epi32(next, *block);
            steps.up |= u64::from(_mm512_cmpeq_epi32_mask(step, stride)) << (16 * at);
            steps.level |= u64::from(_mm512_cmpeq_epi32_mask(step, zero)) << (16 * at);
        }
        steps.up &= NOT_LAST;
        steps.level &= NOT_LAST;
        steps
    }

    /// Lanes that hold `value`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn equal(row: &Row, value: u32) -> u64 {
        let value = _mm512_set1_epi32(value as i32);
        let mut bits = 0;
        for (at, block) in blocks(row).iter().enumerate() {
            bits |= u64::from(_mm512_cmpeq_epi32_mask(*block, value)) << (16 * at);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::level::{Fused, Host, Level, Portable, Wide};

    /// Rows with every kind of step, at every place.
    fn rows() -> Vec<Row> {
        let mut rows = vec![Row::ZERO, Row::splat(!0)];
        let mut random = 1u32;
        let mut next = move || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 24
        };
        for _ in 0..200 {
            let mut row = Row::splat(next() << 24);
            for i in 1..LANES {
                row.0[i] = row.0[i - 1].wrapping_add([0, 4, 0, 4, 8][next() as usize % 5]);
            }
            rows.push(row);
        }
        rows
    }

    fn agrees_with_single_lanes<H: Host>() {
        for row in rows() {
            let mut expected = Steps { up: 0, level: 0 };
            for i in 0..LANES - 1 {
                let step = row.0[i + 1].wrapping_sub(row.0[i]);
                expected.up |= u64::from(step == 4) << i;
                expected.level |= u64::from(step == 0) << i;
            }
            assert_eq!(H::steps(&row, 4), expected);
            let value = row.0[40];
            let equal = (0..LANES).fold(0, |bits, i| bits | u64::from(row.0[i] == value) << i);
            assert_eq!(H::equal(&row, value), equal);
            let mut mask = Row::splat(7);
            H::expand(&mut mask, equal);
            assert_eq!(H::compress(&mask), equal);
            assert!((0..LANES).all(|i| mask.0[i] == if equal >> i & 1 != 0 { !0 } else { 0 }));
        }
    }

    #[test]
    fn every_level_sees_the_same() {
        agrees_with_single_lanes::<Portable>();
        if Level::detected() >= Level::Avx2 {
            agrees_with_single_lanes::<Fused>();
        }
        if Level::detected() >= Level::Avx512 {
            agrees_with_single_lanes::<Wide>();
        }
    }
}
