//! The kernel descriptor: 64 bytes that say how a kernel starts.
//!
//! Layout and bits as in LLVM's AMDGPU usage document, for GFX9.

/// A parsed kernel descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// LDS that the kernel needs in any case.
    pub group_segment_bytes: u32,
    /// Private memory per work-item that the kernel needs in any case.
    pub private_segment_bytes: u32,
    /// Size of the kernel arguments.
    pub kernarg_bytes: u32,
    /// Entry point, relative to the descriptor.
    pub entry_offset: i64,
    /// COMPUTE_PGM_RSRC1.
    pub rsrc1: u32,
    /// COMPUTE_PGM_RSRC2.
    pub rsrc2: u32,
    /// COMPUTE_PGM_RSRC3 (gfx90a).
    pub rsrc3: u32,
    /// Kernel code properties.
    pub properties: u16,
}

/// Bits of [`KernelDescriptor::properties`], in the order in which user SGPRs are filled.
pub mod property {
    /// Four SGPRs: the buffer descriptor of private memory.
    pub const PRIVATE_SEGMENT_BUFFER: u16 = 1;
    /// Two SGPRs: address of the dispatch packet.
    pub const DISPATCH_PTR: u16 = 1 << 1;
    /// Two SGPRs: address of the queue.
    pub const QUEUE_PTR: u16 = 1 << 2;
    /// Two SGPRs: address of the kernel arguments.
    pub const KERNARG_SEGMENT_PTR: u16 = 1 << 3;
    /// Two SGPRs: number of the dispatch in its queue.
    pub const DISPATCH_ID: u16 = 1 << 4;
    /// Two SGPRs: address of private memory.
    pub const FLAT_SCRATCH_INIT: u16 = 1 << 5;
    /// One SGPR: private memory per work-item.
    pub const PRIVATE_SEGMENT_SIZE: u16 = 1 << 6;
    /// Waves have 32 lanes.
    pub const WAVEFRONT_SIZE32: u16 = 1 << 10;
    /// The call stack has no bound known to the compiler.
    pub const DYNAMIC_STACK: u16 = 1 << 11;
}

impl KernelDescriptor {
    /// Bytes of a descriptor.
    pub const BYTES: usize = 64;

    /// Reads a descriptor.
    #[must_use]
    pub fn parse(bytes: &[u8; Self::BYTES]) -> Self {
        let dword = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let entry = u64::from(dword(16)) | u64::from(dword(20)) << 32;
        Self {
            group_segment_bytes: dword(0),
            private_segment_bytes: dword(4),
            kernarg_bytes: dword(8),
            entry_offset: entry as i64,
            rsrc3: dword(44),
            rsrc1: dword(48),
            rsrc2: dword(52),
            properties: dword(56) as u16,
        }
    }

    /// Whether a property bit is set.
    #[must_use]
    pub fn has(&self, property: u16) -> bool {
        self.properties & property != 0
    }

    /// User SGPRs that the hardware loads; system SGPRs follow them.
    #[must_use]
    pub fn user_sgprs(&self) -> usize {
        (self.rsrc2 >> 1 & 31) as usize
    }

    /// The MODE register that waves start with.
    pub(crate) fn mode(&self) -> u32 {
        let float = self.rsrc1 >> 12 & 0xff;
        let dx10_clamp = self.rsrc1 >> 21 & 1;
        let ieee = self.rsrc1 >> 23 & 1;
        let fp16_overflow = self.rsrc1 >> 26 & 1;
        float | dx10_clamp << 8 | ieee << 9 | fp16_overflow << 23
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_abi_says() {
        let mut bytes = [0; 64];
        bytes[0] = 1;
        bytes[4] = 2;
        bytes[8] = 3;
        bytes[17] = 1;
        bytes[44] = 4;
        bytes[48..52].copy_from_slice(&0x00af_0000u32.to_le_bytes());
        bytes[52] = 0x1c;
        bytes[56] = 0x0b;
        let kernel = KernelDescriptor::parse(&bytes);
        assert_eq!(
            (
                kernel.group_segment_bytes,
                kernel.private_segment_bytes,
                kernel.kernarg_bytes
            ),
            (1, 2, 3)
        );
        assert_eq!(
            (kernel.entry_offset, kernel.rsrc3, kernel.user_sgprs()),
            (256, 4, 14)
        );
        assert_eq!(kernel.mode(), 0x3f0);
        assert!(kernel.has(property::KERNARG_SEGMENT_PTR) && !kernel.has(property::QUEUE_PTR));
    }
}
