//! Registers of dispatches (`COMPUTE_*`, the same places from gfx7 on; RSRC3 moved).

use crate::device::Compute;
use std::collections::BTreeMap;

/// Where registers of shaders begin.
const BASE: u32 = 0x2c00;

/// Registers that a dispatch is made of.
mod register {
    pub(super) const START: u32 = 0x2e04;
    pub(super) const THREADS: u32 = 0x2e07;
    pub(super) const PROGRAM: u32 = 0x2e0c;
    pub(super) const SCRATCH: u32 = 0x2e10;
    pub(super) const RSRC1: u32 = 0x2e12;
    pub(super) const RSRC2: u32 = 0x2e13;
    pub(super) const TMPRING: u32 = 0x2e18;
    pub(super) const RSRC3: u32 = 0x2e2d;
    pub(super) const USER_DATA: u32 = 0x2e40;
    /// The first and the last.
    pub(super) const ALL: std::ops::RangeInclusive<u32> = 0x2e00..=0x2e7f;
}

/// Bits of the word that begins a dispatch.
mod initiator {
    pub(super) const ON: u32 = 1;
    pub(super) const PARTIAL: u32 = 1 << 1;
    pub(super) const FROM_ZERO: u32 = 1 << 2;
    pub(super) const IN_THREADS: u32 = 1 << 5;
}

/// Words of group memory in a unit of RSRC2.
const GROUP_UNIT_BYTES: u32 = 512;

/// The registers of a processor.
#[derive(Debug, Default)]
pub(super) struct Registers(BTreeMap<u32, u32>);

impl Registers {
    /// Sets one, by its distance from the first register of shaders. Answers whether it is one of dispatches.
    pub(super) fn set(&mut self, distance: u32, value: u32) -> bool {
        let register = BASE + distance;
        let known = register::ALL.contains(&register);
        if known {
            self.0.insert(register, value);
        }
        known
    }

    fn get(&self, register: u32) -> u32 {
        self.0.get(&register).copied().unwrap_or(0)
    }

    fn array<const N: usize>(&self, first: u32) -> [u32; N] {
        let mut registers = first..;
        std::array::from_fn(|_| registers.next().map_or(0, |register| self.get(register)))
    }

    fn wide(&self, register: u32) -> u64 {
        u64::from(self.get(register)) | u64::from(self.get(register + 1) & 0xff) << 32
    }

    /// The dispatch that they describe; `None` for one that no device here makes.
    pub(super) fn compute(
        &self,
        dimensions: [u32; 3],
        initiator: u32,
        (queue, doorbell): (u64, u32),
    ) -> Option<Compute> {
        if initiator & initiator::ON == 0 {
            return None;
        }
        let starts_at_zero = (0..3).all(|i| self.get(register::START + i) == 0);
        if !starts_at_zero && initiator & initiator::FROM_ZERO == 0 {
            return None;
        }
        let threads: [u32; 3] = self.array(register::THREADS);
        let mut grid = [0; 3];
        for i in 0..3 {
            let (full, partial) = (threads[i] & 0xffff, threads[i] >> 16);
            grid[i] = if initiator & initiator::IN_THREADS != 0 {
                dimensions[i]
            } else if initiator & initiator::PARTIAL != 0 && partial != 0 {
                dimensions[i].checked_sub(1)?.checked_mul(full)? + partial
            } else {
                dimensions[i].checked_mul(full)?
            };
        }
        let rsrc2 = self.get(register::RSRC2);
        let tmpring = self.get(register::TMPRING);
        Some(Compute {
            code: self.wide(register::PROGRAM) << 8,
            rsrc: [self.get(register::RSRC1), rsrc2, self.get(register::RSRC3)],
            grid,
            workgroup: threads.map(|threads| u16::try_from(threads & 0xffff).unwrap_or(0)),
            group_bytes: (rsrc2 >> 15 & 0x1ff) * GROUP_UNIT_BYTES,
            scratch: self.wide(register::SCRATCH) << 8,
            tmpring: if rsrc2 & 1 == 0 { 0 } else { tmpring },
            user_data: self.array(register::USER_DATA),
            queue,
            doorbell,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dispatch_counts_groups_or_threads() {
        let mut registers = Registers::default();
        for i in 0..3 {
            assert!(registers.set(0x207 + i, [64 | 10 << 16, 1, 1][i as usize]));
        }
        assert!(registers.set(0x20c, 0x1234));
        assert!(registers.set(0x213, 2 << 15));
        let grid = |initiator| registers.compute([4, 1, 1], initiator, (0, 0)).map(|c| c.grid);
        assert_eq!(grid(1), Some([256, 1, 1]));
        assert_eq!(grid(1 | 2), Some([202, 1, 1]), "the last group is a partial one");
        assert_eq!(grid(1 | 1 << 5), Some([4, 1, 1]));
        assert_eq!(grid(0), None, "it is no dispatch of compute");
        let compute = registers.compute([1, 1, 1], 1, (0, 0)).unwrap();
        assert_eq!((compute.code, compute.group_bytes), (0x12_3400, 1024));
        assert!(!registers.set(0x10, 0), "a register of drawing");
        registers.set(0x204, 1);
        assert_eq!(registers.compute([4, 1, 1], 1, (0, 0)).map(|c| c.grid), None);
        assert!(registers.compute([4, 1, 1], 1 | 4, (0, 0)).is_some());
    }
}
