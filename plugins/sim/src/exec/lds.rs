//! The local data share of a work-group.
//!
//! A work-group runs on one thread, so that LDS needs no synchronisation. Reads outside the
//! allocation give zero and writes outside it are dropped, as in hardware, and neither is an error, however far outside:
//! rocBLAS clears its accumulators by reading from 0xf00000, and AMD's `rocrtstFunc.GroupMemoryAllocationTest` writes at an
//! offset that it never set. A host that [asks](super::dispatch::Host::checks_group_memory) hears of both as faults.

use std::cell::Cell;

/// LDS of one work-group.
#[derive(Debug, Default)]
pub(crate) struct Lds {
    bytes: Vec<u8>,
    /// Whether accesses outside are noted.
    checked: bool,
    /// An address outside the allocation, if one was noted.
    wild: Cell<Option<u64>>,
}

impl Lds {
    /// Makes this an allocation of `size` zero bytes. Accesses outside are noted if it is checked.
    pub(crate) fn reset(&mut self, size: usize, checked: bool) {
        self.bytes.clear();
        self.bytes.resize(size, 0);
        self.checked = checked;
        self.wild.set(None);
    }

    /// The address of an access that was noted, once.
    #[inline(always)]
    pub(crate) fn take_wild(&self) -> Option<u64> {
        self.wild.take()
    }

    #[cold]
    #[inline(never)]
    fn missed(&self, address: u64) {
        if self.checked {
            self.wild.set(Some(address));
        }
    }

    /// `N` bytes at `address`, if all are inside.
    #[inline(always)]
    fn get<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let found = usize::try_from(address)
            .ok()
            .and_then(|start| self.bytes.get(start..)?.first_chunk());
        if found.is_none() {
            self.missed(address);
        }
        found.copied()
    }

    #[inline(always)]
    fn set<const N: usize>(&mut self, address: u64, value: [u8; N]) {
        let target = usize::try_from(address)
            .ok()
            .and_then(|start| self.bytes.get_mut(start..)?.first_chunk_mut());
        match target {
            Some(target) => *target = value,
            None => self.missed(address),
        }
    }

    /// The byte at `address`.
    #[inline(always)]
    pub(crate) fn read8(&self, address: u64) -> u32 {
        self.get::<1>(address).map_or(0, |[byte]| byte.into())
    }

    /// The 16 bits at `address`.
    #[inline(always)]
    pub(crate) fn read16(&self, address: u64) -> u32 {
        self.get(address)
            .map_or(0, |bytes| u16::from_le_bytes(bytes).into())
    }

    /// The dword at `address`.
    #[inline(always)]
    pub(crate) fn read32(&self, address: u64) -> u32 {
        self.get(address).map_or(0, u32::from_le_bytes)
    }

    /// The 64 bits at `address`.
    #[inline(always)]
    pub(crate) fn read64(&self, address: u64) -> u64 {
        self.get(address).map_or(0, u64::from_le_bytes)
    }

    /// Writes a byte.
    #[inline(always)]
    pub(crate) fn write8(&mut self, address: u64, value: u32) {
        self.set(address, [value as u8]);
    }

    /// Writes 16 bits.
    #[inline(always)]
    pub(crate) fn write16(&mut self, address: u64, value: u32) {
        self.set(address, (value as u16).to_le_bytes());
    }

    /// Writes a dword.
    #[inline(always)]
    pub(crate) fn write32(&mut self, address: u64, value: u32) {
        self.set(address, value.to_le_bytes());
    }

    /// Writes 64 bits.
    #[inline(always)]
    pub(crate) fn write64(&mut self, address: u64, value: u64) {
        self.set(address, value.to_le_bytes());
    }

    /// Fills `to` with consecutive dwords from `address`, if all are inside.
    #[inline(always)]
    pub(crate) fn read(&self, address: u32, to: &mut [u32]) -> Option<()> {
        let from = self.bytes.get(address as usize..)?.get(..size_of_val(to))?;
        // The usual lengths of runs, which the compiler makes few instructions of.
        match to.len() {
            16 => fill(&mut to[..16], &from[..64]),
            64 => fill(&mut to[..64], &from[..256]),
            _ => fill(to, from),
        }
        Some(())
    }

    /// Writes consecutive dwords from `address`, if all are inside.
    #[inline(always)]
    pub(crate) fn write(&mut self, address: u32, from: &[u32]) -> Option<()> {
        let to = self
            .bytes
            .get_mut(address as usize..)?
            .get_mut(..size_of_val(from))?;
        match from.len() {
            16 => drain(&mut to[..64], &from[..16]),
            64 => drain(&mut to[..256], &from[..64]),
            _ => drain(to, from),
        }
        Some(())
    }
}

/// Dwords from bytes.
#[inline(always)]
fn fill(to: &mut [u32], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from.chunks_exact(4)) {
        *to = u32::from_le_bytes([from[0], from[1], from[2], from[3]]);
    }
}

/// Bytes from dwords.
#[inline(always)]
fn drain(to: &mut [u8], from: &[u32]) {
    for (to, from) in to.chunks_exact_mut(4).zip(from) {
        to.copy_from_slice(&from.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_outside_read_zero_and_write_nothing() {
        let mut lds = Lds::default();
        lds.reset(16, false);
        lds.write32(12, 0x0403_0201);
        lds.write32(13, !0);
        lds.write64(u64::MAX, !0);
        assert_eq!(
            (lds.read32(12), lds.read32(13), lds.read64(8)),
            (0x0403_0201, 0, 0x0403_0201_0000_0000)
        );
        assert_eq!((lds.read8(15), lds.read8(16), lds.read16(13)), (4, 0, 0x0302));
        let mut row = [9; 3];
        assert_eq!((lds.read(8, &mut row), row), (None, [9; 3]));
        assert_eq!((lds.read(4, &mut row), row), (Some(()), [0, 0, 0x0403_0201]));
        assert_eq!((lds.write(12, &[1, 2]), lds.write(u32::MAX, &[1])), (None, None));
        assert_eq!(
            (lds.write(5, &[7, 8]), lds.read32(5), lds.read32(12)),
            (Some(()), 7, 0x0403_0200)
        );
    }
}
