//! The few calls of the render node that the driver makes itself.
//!
//! Source of the facts: `include/uapi/drm/drm.h` and `amdgpu_drm.h`; group letter `d`, the driver's own numbers
//! start at 0x40.

use super::{code, Request, WRITE};

/// The letter of the group.
pub const GROUP: u8 = b'd';

/// Query: what the device is ([`DeviceInfo`]).
pub const INFO_DEV_INFO: u32 = 0x16;

/// A query to the graphics driver.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Where the answer goes.
    pub return_pointer: u64,
    /// Room there.
    pub return_size: u32,
    /// Which query.
    pub query: u32,
    /// Depends on the query.
    pub arguments: [u32; 4],
}
const _: () = assert!(size_of::<Info>() == 32);

// SAFETY: DRM_AMDGPU_INFO takes this structure, which is all integers.
unsafe impl Request for Info {
    const CODE: u32 = code(WRITE, GROUP, 0x45, size_of::<Self>());
    const NAME: &'static str = "AMDGPU_INFO";
}

/// The beginning of the answer to [`INFO_DEV_INFO`]. The kernel copies as much as there is room for.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceInfo {
    /// PCI device number.
    pub device_id: u32,
    /// Revision inside the kernel.
    pub chip_rev: u32,
    /// Revision of the chip.
    pub external_rev: u32,
    /// PCI revision.
    pub pci_rev: u32,
    /// Family of the chip.
    pub family: u32,
    /// Shader engines.
    pub num_shader_engines: u32,
    /// Shader arrays of an engine.
    pub num_shader_arrays_per_engine: u32,
    /// Kilohertz of the device's clock.
    pub gpu_counter_freq: u32,
}
const _: () = assert!(std::mem::offset_of!(DeviceInfo, gpu_counter_freq) == 28);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_headers() {
        assert_eq!(Info::CODE, 0x4020_6445);
    }
}
