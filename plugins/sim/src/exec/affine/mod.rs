//! Rows that are a formula of the lane number, kept as that formula.
//!
//! Work-item ids, and what kernels compute of them to get addresses, are sums of a base and of one addend for each bit of
//! the lane number: `v[lane] = base + (lane & 1) * s0 + (lane >> 1 & 1) * s1 + ..`, modulo 2^32. So are ids of
//! work-groups with several dimensions, if these are powers of two, and all values that are the same in every lane.
//! Such values are added, shifted and multiplied without a look at the lanes, and a memory access by them needs no
//! search for neighbours.
//!
//! A wave knows the formulas of its first registers ([`Formulas`]). A register's row may be stale meanwhile; before an
//! operation that looks at lanes, the rows that it reads are [settled](settle). Operations on formulas exist for
//! the full execution mask only, and leave to the operation on lanes ([`Flow::ByLanes`](super::op::Flow)) whatever is no
//! formula any more.

pub(super) mod alu;
pub(super) mod bundle;
pub(super) mod memory;
mod numbers;
mod settle;
mod touch;
pub(super) mod wide;

pub(crate) use numbers::{Numbers, Plain, Vector};
pub(crate) use settle::{forget, settler};
pub(crate) use touch::touched;

use super::level::Level;
use super::op::{Handler, Op};
use super::row::{Row, LANES};
use crate::isa::Inst;

/// Registers that can have a formula.
pub(crate) const KNOWN: usize = 64;

/// Bits of a lane number.
pub(crate) const BITS: usize = 6;

/// A formula: the base, the sum of the addends, and the addends of the six bits of the lane number.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Affine([u32; BITS + 2]);

impl Affine {
    /// The same value in all lanes.
    #[cfg(test)]
    pub(crate) fn uniform(value: u32) -> Self {
        Self::new(value, [0; BITS])
    }

    /// A base and addends.
    pub(crate) fn new(base: u32, [a, b, c, d, e, f]: [u32; BITS]) -> Self {
        let sum = [b, c, d, e, f].into_iter().fold(a, u32::wrapping_add);
        Self([base, sum, a, b, c, d, e, f])
    }

    /// The same addends with another base.
    pub(crate) fn with_base(mut self, base: u32) -> Self {
        self.0[0] = base;
        self
    }

    /// The addend of a bit of the lane number.
    #[inline(always)]
    fn addend(&self, bit: usize) -> u32 {
        self.0[2 + bit]
    }

    /// The sum of the addends that are there.
    #[inline(always)]
    fn sum_of_addends(&self) -> u32 {
        self.0[2..]
            .iter()
            .fold(0, |sum, addend| sum.wrapping_add(*addend))
    }

    /// How much more a lane of the next wave of a bundle has: its number goes on where this wave's ends.
    #[inline(always)]
    pub(super) fn step(&self) -> u32 {
        self.addend(BITS - 1).wrapping_mul(2)
    }

    /// The formula for a whole bundle: its sum is that of the last lane of the last of `waves`.
    #[inline(always)]
    pub(super) fn for_all(mut self, waves: u32) -> Self {
        self.0[1] = self
            .sum_of_addends()
            .wrapping_add(self.step().wrapping_mul(waves - 1));
        self
    }

    /// The formula of one wave of the bundle that this one is for.
    #[inline(always)]
    pub(super) fn of_one(mut self, wave: u32) -> Self {
        self.0[0] = self.0[0].wrapping_add(self.step().wrapping_mul(wave));
        self.0[1] = self.sum_of_addends();
        self
    }

    /// The least and the greatest value, if no lane's sum wraps around, where addends may be negative. Not for bundles.
    #[cold]
    fn range_both_ways(&self) -> Option<(u32, u32)> {
        if self.0[1] != self.sum_of_addends() {
            return None;
        }
        let (mut least, mut most) = (i64::from(self.0[0]), i64::from(self.0[0]));
        for addend in &self.0[2..] {
            let addend = i64::from(*addend as i32);
            least += addend.min(0);
            most += addend.max(0);
        }
        Some((u32::try_from(least).ok()?, u32::try_from(most).ok()?))
    }

    /// Whether no bit is set in two of base and addends. Of bundles it is not known.
    fn has_own_bits(&self) -> bool {
        if self.0[1] != self.sum_of_addends() {
            return false;
        }
        let mut seen = self.0[0];
        for addend in &self.0[2..] {
            if seen & addend != 0 {
                return false;
            }
            seen |= addend;
        }
        true
    }

    /// Writes every lane.
    #[inline(always)]
    pub(crate) fn expand(&self, row: &mut Row) {
        let [base, _, a, b, c, d, e, f] = self.0;
        let part = |lane: usize, bit: usize, addend: u32| if lane >> bit & 1 != 0 { addend } else { 0 };
        let mut first = [0; 16];
        for (lane, value) in first.iter_mut().enumerate() {
            *value = base
                .wrapping_add(part(lane, 0, a))
                .wrapping_add(part(lane, 1, b))
                .wrapping_add(part(lane, 2, c))
                .wrapping_add(part(lane, 3, d));
        }
        for (quarter, more) in [0, e, f, e.wrapping_add(f)].into_iter().enumerate() {
            for (to, value) in row.0[16 * quarter..16 * quarter + 16].iter_mut().zip(&first) {
                *to = value.wrapping_add(more);
            }
        }
    }
}

/// What a wave knows of its registers' formulas.
pub(crate) struct Formulas {
    /// Registers that have a formula, a bit each.
    pub(crate) known: u64,
    /// Those of them whose rows do not hold their values.
    pub(crate) stale: u64,
    by_register: [Affine; KNOWN],
}

impl Default for Formulas {
    fn default() -> Self {
        Self {
            known: 0,
            stale: 0,
            by_register: [Affine([0; BITS + 2]); KNOWN],
        }
    }
}

impl Formulas {
    /// The formula of the register with operand code `code`.
    #[inline(always)]
    pub(crate) fn get<N: Numbers>(&self, code: u16) -> Option<N> {
        let index = usize::from(code);
        if index < KNOWN && self.known >> index & 1 != 0 {
            return Some(N::load(&self.by_register[index & (KNOWN - 1)]));
        }
        None
    }

    /// Gives a register a formula in place of a row. It must be one of the first [`KNOWN`].
    #[inline(always)]
    pub(crate) fn set<N: Numbers>(&mut self, code: u16, formula: N) {
        let index = usize::from(code) & (KNOWN - 1);
        formula.store(&mut self.by_register[index]);
        self.known |= 1 << index;
        self.stale |= 1 << index;
    }

    /// Whether an operation that reads and writes these registers has to wait until they are settled.
    #[inline(always)]
    pub(crate) fn concern(&self, op: &Op) -> bool {
        self.stale & op.reads | self.known & op.writes != 0
    }

    /// The rows of these registers have been written.
    #[inline(always)]
    pub(crate) fn forget(&mut self, registers: u64) {
        self.known &= !registers;
        self.stale &= !registers;
    }
}

/// Bits of `count` registers from operand code `code` on, of those that can have a formula.
pub(crate) fn bits(code: u16, count: u8) -> u64 {
    (usize::from(code)..KNOWN)
        .take(count.into())
        .fold(0, |bits, register| bits | 1 << register)
}

/// The handler that does an operation on formulas, if there is one.
pub(crate) fn handler(inst: &Inst, op: &Op, level: Level) -> Option<Handler> {
    let versions = alu::handler(inst, op)
        .or_else(|| wide::handler(inst, op))
        .or_else(|| memory::handler(inst, op))?;
    Some(versions[level as usize])
}

/// The same for an operation that [`fuse::add`](super::fuse::add) has made.
pub(crate) fn handler_of_sum(op: &Op, level: Level) -> Option<Handler> {
    Some(wide::handler_of_sum(op)?[level as usize])
}

const _: () = assert!(1 << BITS == LANES);

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(formula: &Affine) -> [u32; LANES] {
        std::array::from_fn(|lane| {
            (0..BITS)
                .filter(|bit| lane >> bit & 1 != 0)
                .fold(formula.0[0], |sum, bit| sum.wrapping_add(formula.addend(bit)))
        })
    }

    fn samples() -> Vec<Affine> {
        let mut random = 7u32;
        let mut next = move || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let small = random >> 8 & 0xff;
            [small, small.wrapping_neg(), random, 0][random as usize >> 30]
        };
        let ids = std::array::from_fn(|bit| 1 << bit);
        let mut all = vec![Affine::uniform(9), Affine::new(256, ids), Affine::new(!0, ids)];
        all.extend((0..200).map(|_| Affine::new(next(), std::array::from_fn(|_| next()))));
        all
    }

    #[test]
    fn formulas_are_written_and_bounded_as_their_lanes_are() {
        for formula in samples() {
            let values = lanes(&formula);
            let mut row = Row::ZERO;
            formula.expand(&mut row);
            assert_eq!(row.0, values);
            let numbers = Plain::load(&formula);
            assert_eq!(numbers.to_affine(), formula);
            let (least, most) = (
                *values.iter().min().expect("64"),
                *values.iter().max().expect("64"),
            );
            if let Some(range) = numbers.range() {
                assert_eq!(range, (least, most), "{formula:?}");
            }
            if let Some(range) = numbers.rising() {
                assert_eq!((range, values[0]), ((least, most), least), "{formula:?}");
            }
            if let Some(value) = numbers.value() {
                assert_eq!(values, [value; LANES]);
            }
            if let Some(bits) = numbers.of_own_bits() {
                let masked = lanes(&bits.right(3).and(0x55).to_affine());
                assert_eq!(masked, values.map(|value| value >> 3 & 0x55), "{formula:?}");
            }
        }
        assert_eq!(Plain::load(&Affine::new(!0, [1, 0, 0, 0, 0, 0])).range(), None);
        assert_eq!(
            Plain::load(&Affine::new(5, [1u32.wrapping_neg(), 0, 0, 0, 0, 0])).range(),
            Some((4, 5))
        );
    }

    #[test]
    fn every_host_computes_with_formulas_alike() {
        fn same<N: Numbers>() {
            let all = samples();
            for (a, b) in all.iter().zip(all.iter().skip(1)) {
                let (p, q, n, o) = (Plain::load(a), Plain::load(b), N::load(a), N::load(b));
                let pairs = [
                    (p.plus(q).to_affine(), n.plus(o).to_affine()),
                    (p.minus(q).to_affine(), n.minus(o).to_affine()),
                    (p.times(77).to_affine(), n.times(77).to_affine()),
                    (p.left(31).to_affine(), n.left(31).to_affine()),
                    (p.right(5).to_affine(), n.right(5).to_affine()),
                    (p.and(0xf0f).to_affine(), n.and(0xf0f).to_affine()),
                ];
                for (expected, result) in pairs {
                    assert_eq!(result, expected);
                }
                assert_eq!((p.head(), p.value()), (n.head(), n.value()));
                assert_eq!((p.range(), p.rising()), (n.range(), n.rising()));
                let mut other = *a;
                other.0[5] ^= b.0[5];
                let differ = u32::from(b.0[5] != 0) << 3;
                assert_eq!((p.differ(&other), n.differ(&other)), (differ, differ));
                assert_eq!(p.differ(b), n.differ(b));
            }
            assert_eq!(N::uniform(3).to_affine(), Affine::uniform(3));
        }
        same::<Plain>();
        if Level::detected() >= Level::Avx2 {
            same::<Vector>();
        }
    }
}
