//! Formulas of a bundle: one for all its waves.
//!
//! Waves of a work-group have work-items one after the other, so that the lane after a wave's last is the next wave's first.
//! Where the addend of the lane number's highest bit belongs to the same dimension as what follows it, a formula holds
//! for the lanes of several waves, with twice that addend for each wave. What is linear stays so. Only the sum of the
//! addends, which tells the greatest value, has to be that of all waves: then every answer about all lanes is one about
//! all lanes of all waves.

use super::{Affine, Formulas, KNOWN};

/// Formulas that an operation reads, while it is done for one wave of a bundle after the other.
pub(in crate::exec) struct Parted {
    /// What was known before.
    known: u64,
    stale: u64,
    /// The formulas for all waves.
    whole: [Affine; Self::MOST],
    /// Their registers.
    registers: [u8; Self::MOST],
    count: usize,
}

impl Parted {
    /// No operation reads more registers.
    const MOST: usize = 16;

    /// Those among `registers`; `None` if there are too many.
    #[inline(always)]
    pub(in crate::exec) fn new(formulas: &Formulas, registers: u64) -> Option<Self> {
        let mut left = registers & formulas.known;
        if left.count_ones() as usize > Self::MOST {
            return None;
        }
        let mut parted = Self {
            known: formulas.known,
            stale: formulas.stale,
            whole: [Affine([0; 8]); Self::MOST],
            registers: [0; Self::MOST],
            count: 0,
        };
        while left != 0 {
            let register = left.trailing_zeros();
            left &= left - 1;
            parted.whole[parted.count] = formulas.by_register[register as usize];
            parted.registers[parted.count] = register as u8;
            parted.count += 1;
        }
        Some(parted)
    }

    /// Puts the formulas of one wave in their places.
    #[inline(always)]
    pub(in crate::exec) fn set_to(&self, formulas: &mut Formulas, wave: u32) {
        formulas.known = self.known;
        formulas.stale = self.stale;
        for (whole, register) in self.whole.iter().zip(self.registers).take(self.count) {
            formulas.by_register[usize::from(register) & (KNOWN - 1)] = whole.of_one(wave);
        }
    }

    /// Puts back those for all waves, but for registers that have been written.
    #[inline(always)]
    pub(in crate::exec) fn put_back(&self, formulas: &mut Formulas, written: u64) {
        for (whole, register) in self.whole.iter().zip(self.registers).take(self.count) {
            if written >> register & 1 == 0 {
                formulas.by_register[usize::from(register) & (KNOWN - 1)] = *whole;
            }
        }
    }
}

impl Formulas {
    /// Makes formulas of the first wave those of a bundle of so many.
    pub(in crate::exec) fn widen(&mut self, waves: u32) {
        for register in registers(self.known) {
            self.by_register[register] = self.by_register[register].for_all(waves);
        }
    }

    /// Gives another wave its formulas of a bundle's.
    pub(in crate::exec) fn give(&self, to: &mut Self, wave: u32) {
        (to.known, to.stale) = (self.known, self.stale);
        for register in registers(self.known) {
            to.by_register[register] = self.by_register[register].of_one(wave);
        }
    }

    /// Makes formulas of a bundle those of its first wave.
    pub(in crate::exec) fn narrow(&mut self) {
        for register in registers(self.known) {
            self.by_register[register] = self.by_register[register].of_one(0);
        }
    }
}

/// Registers of a set.
fn registers(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let register = set.trailing_zeros() as usize;
        let some = set != 0;
        set &= set.wrapping_sub(1);
        some.then_some(register)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Numbers, Plain, Row, LANES};
    use super::*;

    #[test]
    fn a_formula_of_a_bundle_bounds_and_gives_those_of_its_waves() {
        for waves in [2u32, 3, 4, 8, 16] {
            for stride in [0, 4, 12, 1 << 20, 1u32.wrapping_neg()] {
                let all = Affine::new(1000, std::array::from_fn(|bit| stride << bit)).for_all(waves);
                let sum = Plain::load(&all).plus(Plain::load(&all)).left(1).to_affine();
                let value =
                    |formula: &Affine, lane: u32| formula.0[0].wrapping_add(formula.0[2].wrapping_mul(lane));
                for wave in 0..waves {
                    let mut row = Row::ZERO;
                    sum.of_one(wave).expand(&mut row);
                    for lane in 0..LANES as u32 {
                        assert_eq!(row.0[lane as usize], value(&sum, wave * 64 + lane));
                    }
                    assert!(Plain::load(&all.of_one(wave)).range().is_some() || stride == !0);
                }
                let last = 64 * waves - 1;
                let highest = 1000 + u64::from(stride) * u64::from(last);
                let range = Plain::load(&all).range();
                if u32::try_from(highest).is_ok() && stride < 1 << 21 {
                    assert_eq!(range, Some((1000, highest as u32)), "{waves} {stride}");
                } else {
                    assert_eq!(range, None, "{waves} {stride}");
                }
                assert_eq!(all.has_own_bits(), stride == 0);
                assert_eq!(Plain::load(&all).value(), (stride == 0).then_some(1000));
            }
        }
    }
}
