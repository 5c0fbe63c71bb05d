//! What the chips are that the software GPU can be: the numbers that programs see of them.
//!
//! Sources: the topology that the kernel publishes for each (`amdkfd`, `kfd_crat.c` and `kfd_device.c`), AMD's
//! product data, and `rocminfo` output.

use crate::isa::Target;

/// The numbers of one chip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chip {
    /// The processor.
    pub(crate) target: Target,
    /// The full ISA name.
    pub(crate) isa: &'static str,
    /// The chip's name.
    pub(crate) product: &'static str,
    /// PCI device number.
    pub(crate) device_id: u32,
    /// Compute units.
    pub(crate) compute_units: u32,
    /// Shader engines.
    pub(crate) shader_engines: u32,
    /// Waves that one SIMD unit holds.
    pub(crate) waves_per_simd: u32,
    /// Highest clock in MHz.
    pub(crate) clock_mhz: u32,
    /// Highest clock of its memory in MHz.
    pub(crate) memory_mhz: u32,
    /// Width of its memory bus in bits.
    pub(crate) memory_bits: u32,
    /// Bytes of the second-level cache.
    pub(crate) l2_bytes: u64,
    /// Whether registers and caches are error-correcting.
    pub(crate) sram_ecc: bool,
    /// Number of the chip's family in the graphics driver.
    pub(crate) family: u64,
}

/// SIMD units of a compute unit on every chip of the family.
pub(crate) const SIMDS_PER_CU: u32 = 4;
/// Bytes of group memory of a compute unit.
pub(crate) const GROUP_BYTES: u32 = 64 << 10;
/// Most work-items of a work-group.
pub(crate) const MAX_GROUP_ITEMS: u32 = 1024;
/// Bits 63:32 of the group aperture, as the kernel sets it for GFX9.
pub(crate) const GROUP_APERTURE_HI: u32 = 0x0001_0000;
/// Bits 63:32 of the private aperture.
pub(crate) const PRIVATE_APERTURE_HI: u32 = 0x0002_0000;
/// Most bytes of private memory of a work-item: 13 bits of KiB per wave, over 64 lanes.
pub(crate) const MAX_PRIVATE_BYTES: u32 = (((1 << 13) - 1) << 10) / 64;
/// Global wave sync resources.
pub(crate) const GWS_COUNT: u32 = 64;

/// Every chip.
const CHIPS: [Chip; 4] = [
    Chip {
        target: Target::Gfx900,
        isa: "amdgcn-amd-amdhsa--gfx900:xnack-",
        product: "Hansa software GPU (Vega 10)",
        device_id: 0x687f,
        compute_units: 64,
        shader_engines: 4,
        waves_per_simd: 10,
        clock_mhz: 1630,
        memory_mhz: 945,
        memory_bits: 2048,
        l2_bytes: 4 << 20,
        sram_ecc: false,
        family: 141,
    },
    Chip {
        target: Target::Gfx906,
        isa: "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-",
        product: "Hansa software GPU (Vega 20)",
        device_id: 0x66a1,
        compute_units: 60,
        shader_engines: 4,
        waves_per_simd: 10,
        clock_mhz: 1725,
        memory_mhz: 1000,
        memory_bits: 4096,
        l2_bytes: 4 << 20,
        sram_ecc: true,
        family: 141,
    },
    Chip {
        target: Target::Gfx908,
        isa: "amdgcn-amd-amdhsa--gfx908:sramecc+:xnack-",
        product: "Hansa software GPU (MI100)",
        device_id: 0x738c,
        compute_units: 120,
        shader_engines: 8,
        waves_per_simd: 10,
        clock_mhz: 1502,
        memory_mhz: 1200,
        memory_bits: 4096,
        l2_bytes: 8 << 20,
        sram_ecc: true,
        family: 141,
    },
    Chip {
        target: Target::Gfx90a,
        isa: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        product: "Hansa software GPU (MI200)",
        device_id: 0x7408,
        compute_units: 104,
        shader_engines: 8,
        waves_per_simd: 8,
        clock_mhz: 1700,
        memory_mhz: 1600,
        memory_bits: 4096,
        l2_bytes: 8 << 20,
        sram_ecc: true,
        family: 141,
    },
];

impl Chip {
    /// The chip with a processor.
    pub(crate) const fn of(target: Target) -> &'static Self {
        &CHIPS[target.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_finds_its_chip() {
        for target in Target::ALL {
            let chip = Chip::of(target);
            assert_eq!(chip.target, target);
            assert!(chip.isa.contains(target.name()), "{}", chip.isa);
        }
    }
}
