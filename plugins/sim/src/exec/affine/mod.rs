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

mod alu;
mod memory;
mod numbers;
mod settle;
mod touch;
mod wide;

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
const BITS: usize = 6;

/// A formula: the base, the sum of the addends, and the addends of the six bits of the lane number.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Affine([u32; BITS + 2]);

impl Affine {
    /// The same value in all lanes.
    pub(crate) fn uniform(value: u32) -> Self {
        Self::new(value, [0; BITS])
    }

    /// A base and addends.
    pub(crate) fn new(base: u32, [a, b, c, d, e, f]: [u32; BITS]) -> Self {
        let sum = [b, c, d, e, f].into_iter().fold(a, u32::wrapping_add);
        Self([base, sum, a, b, c, d, e, f])
    }

    /// Lane by lane, `self + (other << left)`.
    pub(crate) fn plus_shifted(self, other: Self, left: u32) -> Self {
        Self(std::array::from_fn(|i| {
            self.0[i].wrapping_add(other.0[i] << left)
        }))
    }

    /// The addend of a bit of the lane number.
    #[inline(always)]
    fn addend(&self, bit: usize) -> u32 {
        self.0[2 + bit]
    }

    /// The least and the greatest value, if no lane's sum wraps around, where addends may be negative.
    #[cold]
    fn range_both_ways(&self) -> Option<(u32, u32)> {
        let (mut least, mut most) = (i64::from(self.0[0]), i64::from(self.0[0]));
        for addend in &self.0[2..] {
            let addend = i64::from(*addend as i32);
            least += addend.min(0);
            most += addend.max(0);
        }
        Some((u32::try_from(least).ok()?, u32::try_from(most).ok()?))
    }

    /// Whether no bit is set in two of base and addends.
    fn has_own_bits(&self) -> bool {
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
    fn expand(&self, row: &mut Row) {
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
            for lane in 0..16 {
                row.0[16 * quarter + lane] = first[lane].wrapping_add(more);
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
