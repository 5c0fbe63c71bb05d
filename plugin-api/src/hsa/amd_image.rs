//! Images in the layout of the vendor, made by other APIs.

abi_struct! {
    /// Layout of an image in the form of the vendor. Longer than declared: never copy it.
    hsa_amd_image_descriptor_t {
        /// Version of the data.
        version: u32,
        /// PCI vendor in the high half, device in the low half.
        deviceID: u32,
        /// First word of the data.
        data: [u32; 1],
    }
}

/// Version of a descriptor that holds surface metadata of Windows.
pub const HSA_AMD_IMAGE_DESC_VERSION_WDDM_SURFACE_METADATA: u32 = 0x574d_4453;
