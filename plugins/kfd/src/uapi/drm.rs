//! The few calls of the render node that the driver makes itself.
//!
//! Source of the facts: `include/uapi/drm/drm.h` and `amdgpu_drm.h`; group letter `d`, the driver's own numbers
//! start at 0x40.

use super::{code, Request, READ, WRITE};

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
    /// Highest clocks, active compute units and their maps, render backends, contexts, generation of the bus.
    pub not_asked: [u32; 26],
    /// What kind of device it is, [`IDS_FUSION`] and others.
    pub ids_flags: u64,
}
const _: () = assert!(std::mem::offset_of!(DeviceInfo, gpu_counter_freq) == 28);
const _: () = assert!(std::mem::offset_of!(DeviceInfo, ids_flags) == 136);

/// A bit of [`DeviceInfo::ids_flags`]: part of a processor, whose memory it uses.
pub const IDS_FUSION: u64 = 1;

/// Part of a mapping's flags: devices read.
pub const VA_READABLE: u32 = 1 << 1;
/// Devices write.
pub const VA_WRITEABLE: u32 = 1 << 2;
/// Devices execute.
pub const VA_EXECUTABLE: u32 = 1 << 3;
/// Operation: map.
pub const VA_MAP: u32 = 1;
/// Operation: unmap.
pub const VA_UNMAP: u32 = 2;

/// Maps a part of a buffer at an address, or takes it away. Later kernels have more fields and take this length too.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GemVa {
    /// The buffer.
    pub handle: u32,
    /// Zero.
    pub pad: u32,
    /// [`VA_MAP`] or [`VA_UNMAP`].
    pub operation: u32,
    /// What devices may do.
    pub flags: u32,
    /// The address.
    pub va_address: u64,
    /// Where the part begins.
    pub offset_in_bo: u64,
    /// Its bytes.
    pub map_size: u64,
}
const _: () = assert!(size_of::<GemVa>() == 40);

// SAFETY: DRM_AMDGPU_GEM_VA takes this structure, which is all integers.
unsafe impl Request for GemVa {
    const CODE: u32 = code(WRITE, GROUP, 0x48, size_of::<Self>());
    const NAME: &'static str = "AMDGPU_GEM_VA";
}

/// Names the buffer of a dma-buf file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrimeHandle {
    /// The name.
    pub handle: u32,
    /// Zero here.
    pub flags: u32,
    /// The file.
    pub fd: i32,
}
const _: () = assert!(size_of::<PrimeHandle>() == 12);

// SAFETY: DRM_PRIME_FD_TO_HANDLE takes this structure, which is all integers.
unsafe impl Request for PrimeHandle {
    const CODE: u32 = code(READ | WRITE, GROUP, 0x2e, size_of::<Self>());
    const NAME: &'static str = "PRIME_FD_TO_HANDLE";
}

/// Tells where a buffer is in the render node's file: the name goes in, the offset comes out.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GemMmap {
    /// The name, then the offset.
    pub word: u64,
}
const _: () = assert!(size_of::<GemMmap>() == 8);

// SAFETY: DRM_AMDGPU_GEM_MMAP takes this union of a name with padding and an offset, which is all integers.
unsafe impl Request for GemMmap {
    const CODE: u32 = code(READ | WRITE, GROUP, 0x41, size_of::<Self>());
    const NAME: &'static str = "AMDGPU_GEM_MMAP";
}

/// Forgets a name.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GemClose {
    /// The name.
    pub handle: u32,
    /// Zero.
    pub pad: u32,
}
const _: () = assert!(size_of::<GemClose>() == 8);

// SAFETY: DRM_GEM_CLOSE takes this structure, which is all integers.
unsafe impl Request for GemClose {
    const CODE: u32 = code(WRITE, GROUP, 0x09, size_of::<Self>());
    const NAME: &'static str = "GEM_CLOSE";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_headers() {
        assert_eq!(Info::CODE, 0x4020_6445);
        assert_eq!(GemMmap::CODE, 0xc008_6441);
        assert_eq!(GemVa::CODE, 0x4028_6448);
        assert_eq!(PrimeHandle::CODE, 0xc00c_642e);
        assert_eq!(GemClose::CODE, 0x4008_6409);
    }
}
