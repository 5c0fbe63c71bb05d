//! The local data share of a work-group.
//!
//! A work-group runs on one thread, so that LDS needs no synchronisation. Reads outside the
//! allocation give zero and writes outside it are dropped, as in hardware.

/// LDS of one work-group.
#[derive(Debug, Default)]
pub(crate) struct Lds {
    bytes: Vec<u8>,
}

impl Lds {
    /// Makes this an allocation of `size` zero bytes.
    pub(crate) fn reset(&mut self, size: usize) {
        self.bytes.clear();
        self.bytes.resize(size, 0);
    }

    /// `N` bytes at `address`, if all are inside.
    #[inline(always)]
    fn get<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let start = usize::try_from(address).ok()?;
        self.bytes.get(start..)?.first_chunk().copied()
    }

    #[inline(always)]
    fn set<const N: usize>(&mut self, address: u64, value: [u8; N]) {
        let target = usize::try_from(address)
            .ok()
            .and_then(|start| self.bytes.get_mut(start..)?.first_chunk_mut());
        if let Some(target) = target {
            *target = value;
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

    /// 64 consecutive dwords from `address`, if all are inside.
    #[inline(always)]
    pub(crate) fn row(&self, address: u64) -> Option<&[u8; 256]> {
        self.bytes.get(usize::try_from(address).ok()?..)?.first_chunk()
    }

    /// 64 consecutive dwords from `address`, if all are inside.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, address: u64) -> Option<&mut [u8; 256]> {
        self.bytes
            .get_mut(usize::try_from(address).ok()?..)?
            .first_chunk_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_outside_read_zero_and_write_nothing() {
        let mut lds = Lds::default();
        lds.reset(16);
        lds.write32(12, 0x0403_0201);
        lds.write32(13, !0);
        lds.write64(u64::MAX, !0);
        assert_eq!(
            (lds.read32(12), lds.read32(13), lds.read64(8)),
            (0x0403_0201, 0, 0x0403_0201_0000_0000)
        );
        assert_eq!((lds.read8(15), lds.read8(16), lds.read16(13)), (4, 0, 0x0302));
        assert!(lds.row(0).is_none());
    }
}
