//! What the loader reads from a kernel's descriptor.
//!
//! From version 3 on a kernel is the 64-byte object `NAME.kd`, 64-byte aligned, whose layout is
//! fixed by LLVM's AMDGPU usage document ("Kernel Descriptor"). Version 2 puts a 256-byte
//! `amd_kernel_code_t` (`amd_hsa_kernel_code.h`) in front of the code instead and marks its symbol
//! with type 10. In both, the first instruction is at a signed distance from the descriptor.

use super::processor::Processor;

/// Size of a version 3 descriptor.
pub const DESCRIPTOR_SIZE: u64 = 64;
/// Size of a version 2 descriptor.
pub const DESCRIPTOR_V2_SIZE: u64 = 256;

/// Kernel argument buffers of version 3 and later are aligned to this; no field says so.
const KERNARG_ALIGNMENT: u32 = 16;

const PROPERTY_WAVE32: u16 = 1 << 10;
const PROPERTY_DYNAMIC_STACK: u16 = 1 << 11;
const PROPERTY_V2_DYNAMIC_STACK: u32 = 1 << 20;

/// The attributes of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// Bytes of the kernel argument segment.
    pub kernarg_size: u32,
    /// Alignment of the kernel argument segment.
    pub kernarg_alignment: u32,
    /// Bytes of group memory (LDS) the kernel uses by itself.
    pub group_size: u32,
    /// Bytes of private memory (scratch) each work-item needs.
    pub private_size: u32,
    /// Whether it needs more private memory than that for calls of unknown depth.
    pub dynamic_call_stack: bool,
    /// Lanes of its wavefronts.
    pub wavefront_size: u32,
    /// Number of its call convention.
    pub call_convention: u32,
    /// Distance from the descriptor to the first instruction.
    pub entry_offset: i64,
}

impl Kernel {
    /// Reads a descriptor of version 3 or later. `None` if there are fewer than 64 bytes.
    #[must_use]
    pub fn from_descriptor(bytes: &[u8], processor: &Processor) -> Option<Self> {
        let bytes = bytes.first_chunk::<64>()?;
        let properties = u16::from_le_bytes(field(bytes, 56)?);
        let wave32 = processor.version[0] >= 10 && properties & PROPERTY_WAVE32 != 0;
        Some(Self {
            kernarg_size: u32::from_le_bytes(field(bytes, 8)?),
            kernarg_alignment: KERNARG_ALIGNMENT,
            group_size: u32::from_le_bytes(field(bytes, 0)?),
            private_size: u32::from_le_bytes(field(bytes, 4)?),
            dynamic_call_stack: properties & PROPERTY_DYNAMIC_STACK != 0,
            wavefront_size: if wave32 { 32 } else { 64 },
            call_convention: 0,
            entry_offset: i64::from_le_bytes(field(bytes, 16)?),
        })
    }

    /// Reads an `amd_kernel_code_t`. `None` if there are fewer than 256 bytes or a power of two in it
    /// is out of range.
    #[must_use]
    pub fn from_kernel_code(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<256>()?;
        let [kernarg_alignment] = field(bytes, 100)?;
        let [wavefront_size] = field(bytes, 103)?;
        let kernarg_size = u64::from_le_bytes(field(bytes, 72)?);
        let properties = u32::from_le_bytes(field(bytes, 56)?);
        Some(Self {
            kernarg_size: u32::try_from(kernarg_size).ok()?,
            kernarg_alignment: 1u32.checked_shl(kernarg_alignment.into())?.max(16),
            group_size: u32::from_le_bytes(field(bytes, 64)?),
            private_size: u32::from_le_bytes(field(bytes, 60)?),
            dynamic_call_stack: properties & PROPERTY_V2_DYNAMIC_STACK != 0,
            wavefront_size: 1u32.checked_shl(wavefront_size.into())?,
            call_convention: 0,
            entry_offset: i64::from_le_bytes(field(bytes, 16)?),
        })
    }
}

fn field<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processor(name: &str) -> &'static Processor {
        Processor::from_name(name).expect("a processor of the table")
    }

    #[test]
    fn the_descriptor_fields_are_where_the_document_puts_them() {
        let mut bytes = [0u8; 64];
        bytes[0..4].copy_from_slice(&0x1000u32.to_le_bytes());
        bytes[4..8].copy_from_slice(&260u32.to_le_bytes());
        bytes[8..12].copy_from_slice(&88u32.to_le_bytes());
        bytes[16..24].copy_from_slice(&(-256i64).to_le_bytes());
        bytes[56..58].copy_from_slice(&0x0c00u16.to_le_bytes());
        let expected = Kernel {
            kernarg_size: 88,
            kernarg_alignment: 16,
            group_size: 0x1000,
            private_size: 260,
            dynamic_call_stack: true,
            wavefront_size: 32,
            call_convention: 0,
            entry_offset: -256,
        };
        assert_eq!(
            Kernel::from_descriptor(&bytes, processor("gfx1030")),
            Some(expected)
        );
        // Before gfx10 the bit is reserved and wavefronts have 64 lanes.
        let gfx9 = Kernel::from_descriptor(&bytes, processor("gfx90a")).expect("64 bytes");
        assert_eq!(gfx9.wavefront_size, 64);
        assert_eq!(Kernel::from_descriptor(&bytes[..63], processor("gfx90a")), None);
    }

    #[test]
    fn a_version_2_descriptor_with_an_absurd_power_of_two_is_refused() {
        let mut bytes = [0u8; 256];
        bytes[100] = 4;
        bytes[103] = 6;
        let kernel = Kernel::from_kernel_code(&bytes).expect("256 bytes");
        assert_eq!((kernel.kernarg_alignment, kernel.wavefront_size), (16, 64));
        bytes[103] = 32;
        assert_eq!(Kernel::from_kernel_code(&bytes), None);
        assert_eq!(Kernel::from_kernel_code(&bytes[..255]), None);
    }
}
