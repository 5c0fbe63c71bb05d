//! Image extension 1.x: images and samplers (HSA Runtime PRM 1.2, section 3.2).

use super::system::hsa_dim3_t;

abi_enum! {
    /// What images add to `hsa_agent_get_info`.
    hsa_ext_agent_info_t: u32 {
        /// `uint32_t`: most elements of a 1D image.
        IMAGE_1D_MAX_ELEMENTS = 0x3000 => HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS,
        /// `uint32_t`: most elements of a layer of a 1D array.
        IMAGE_1DA_MAX_ELEMENTS = 0x3001 => HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS,
        /// `uint32_t`: most elements of a buffer image.
        IMAGE_1DB_MAX_ELEMENTS = 0x3002 => HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS,
        /// `uint32_t[2]`: most columns and rows of a 2D image.
        IMAGE_2D_MAX_ELEMENTS = 0x3003 => HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS,
        /// `uint32_t[2]`: most columns and rows of a layer of a 2D array.
        IMAGE_2DA_MAX_ELEMENTS = 0x3004 => HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS,
        /// `uint32_t[2]`: most columns and rows of a depth image.
        IMAGE_2DDEPTH_MAX_ELEMENTS = 0x3005 => HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS,
        /// `uint32_t[2]`: most columns and rows of a layer of a depth array.
        IMAGE_2DADEPTH_MAX_ELEMENTS = 0x3006 => HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS,
        /// `uint32_t[3]`: most columns, rows and slices of a 3D image.
        IMAGE_3D_MAX_ELEMENTS = 0x3007 => HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS,
        /// `uint32_t`: most layers of an array.
        IMAGE_ARRAY_MAX_LAYERS = 0x3008 => HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS,
        /// `uint32_t`: most read-only images alive.
        MAX_IMAGE_RD_HANDLES = 0x3009 => HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES,
        /// `uint32_t`: most other images alive.
        MAX_IMAGE_RORW_HANDLES = 0x300a => HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES,
        /// `uint32_t`: most samplers alive.
        MAX_SAMPLER_HANDLERS = 0x300b => HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS,
        /// `size_t`: alignment of the row pitch of a linear image.
        IMAGE_LINEAR_ROW_PITCH_ALIGNMENT = 0x300c => HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT,
    }
}

abi_handle! {
    /// Names an image of an agent.
    hsa_ext_image_t
}

abi_enum! {
    /// Shape of an image.
    hsa_ext_image_geometry_t: u32 {
        /// Width.
        GEOMETRY_1D = 0 => HSA_EXT_IMAGE_GEOMETRY_1D,
        /// Width and height.
        GEOMETRY_2D = 1 => HSA_EXT_IMAGE_GEOMETRY_2D,
        /// Width, height and depth.
        GEOMETRY_3D = 2 => HSA_EXT_IMAGE_GEOMETRY_3D,
        /// Array of 1D layers.
        GEOMETRY_1DA = 3 => HSA_EXT_IMAGE_GEOMETRY_1DA,
        /// Array of 2D layers.
        GEOMETRY_2DA = 4 => HSA_EXT_IMAGE_GEOMETRY_2DA,
        /// Width, over a plain buffer.
        GEOMETRY_1DB = 5 => HSA_EXT_IMAGE_GEOMETRY_1DB,
        /// 2D of depth values.
        GEOMETRY_2DDEPTH = 6 => HSA_EXT_IMAGE_GEOMETRY_2DDEPTH,
        /// Array of 2D layers of depth values.
        GEOMETRY_2DADEPTH = 7 => HSA_EXT_IMAGE_GEOMETRY_2DADEPTH,
    }
}

abi_enum! {
    /// How a channel is stored and read.
    hsa_ext_image_channel_type_t: u32 {
        /// Signed, to -1..1, 8 bits.
        SNORM_INT8 = 0 => HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8,
        /// Signed, to -1..1, 16 bits.
        SNORM_INT16 = 1 => HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16,
        /// Unsigned, to 0..1, 8 bits.
        UNORM_INT8 = 2 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8,
        /// Unsigned, to 0..1, 16 bits.
        UNORM_INT16 = 3 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16,
        /// Unsigned, to 0..1, 24 bits.
        UNORM_INT24 = 4 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT24,
        /// Unsigned, to 0..1, 5 bits each in 16.
        UNORM_SHORT_555 = 5 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555,
        /// Unsigned, to 0..1, 5, 6 and 5 bits in 16.
        UNORM_SHORT_565 = 6 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565,
        /// Unsigned, to 0..1, 10 bits each in 32.
        UNORM_SHORT_101010 = 7 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010,
        /// Signed, 8 bits.
        SIGNED_INT8 = 8 => HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8,
        /// Signed, 16 bits.
        SIGNED_INT16 = 9 => HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16,
        /// Signed, 32 bits.
        SIGNED_INT32 = 10 => HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32,
        /// Unsigned, 8 bits.
        UNSIGNED_INT8 = 11 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8,
        /// Unsigned, 16 bits.
        UNSIGNED_INT16 = 12 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16,
        /// Unsigned, 32 bits.
        UNSIGNED_INT32 = 13 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32,
        /// Half precision.
        HALF_FLOAT = 14 => HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT,
        /// Single precision.
        FLOAT = 15 => HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT,
    }
}

/// `hsa_ext_image_channel_type_t` in 32 bits.
pub type hsa_ext_image_channel_type32_t = u32;

abi_enum! {
    /// Which channels an element has.
    hsa_ext_image_channel_order_t: u32 {
        /// Channel A.
        A = 0 => HSA_EXT_IMAGE_CHANNEL_ORDER_A,
        /// Channel R.
        R = 1 => HSA_EXT_IMAGE_CHANNEL_ORDER_R,
        /// Channel R and padding.
        RX = 2 => HSA_EXT_IMAGE_CHANNEL_ORDER_RX,
        /// Channels RG, in this order.
        RG = 3 => HSA_EXT_IMAGE_CHANNEL_ORDER_RG,
        /// Channels RG and padding, in this order.
        RGX = 4 => HSA_EXT_IMAGE_CHANNEL_ORDER_RGX,
        /// Channels RA, in this order.
        RA = 5 => HSA_EXT_IMAGE_CHANNEL_ORDER_RA,
        /// Channels RGB, in this order.
        RGB = 6 => HSA_EXT_IMAGE_CHANNEL_ORDER_RGB,
        /// Channels RGB and padding, in this order.
        RGBX = 7 => HSA_EXT_IMAGE_CHANNEL_ORDER_RGBX,
        /// Channels RGBA, in this order.
        RGBA = 8 => HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
        /// Channels BGRA, in this order.
        BGRA = 9 => HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA,
        /// Channels ARGB, in this order.
        ARGB = 10 => HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB,
        /// Channels ABGR, in this order.
        ABGR = 11 => HSA_EXT_IMAGE_CHANNEL_ORDER_ABGR,
        /// Channels sRGB-coded RGB, in this order.
        SRGB = 12 => HSA_EXT_IMAGE_CHANNEL_ORDER_SRGB,
        /// Channels sRGB-coded RGB and padding, in this order.
        SRGBX = 13 => HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBX,
        /// Channels sRGB-coded RGBA, in this order.
        SRGBA = 14 => HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA,
        /// Channels sRGB-coded BGRA, in this order.
        SBGRA = 15 => HSA_EXT_IMAGE_CHANNEL_ORDER_SBGRA,
        /// One channel, read as all four.
        INTENSITY = 16 => HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY,
        /// One channel, read as red, green and blue.
        LUMINANCE = 17 => HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE,
        /// Depth.
        DEPTH = 18 => HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH,
        /// Depth and stencil.
        DEPTH_STENCIL = 19 => HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH_STENCIL,
    }
}

/// `hsa_ext_image_channel_order_t` in 32 bits.
pub type hsa_ext_image_channel_order32_t = u32;

abi_struct! {
    /// Format of an element.
    hsa_ext_image_format_t {
        /// Channel type.
        channel_type: hsa_ext_image_channel_type32_t,
        /// Channel order.
        channel_order: hsa_ext_image_channel_order32_t,
    }
}

abi_struct! {
    /// What an image looks like.
    hsa_ext_image_descriptor_t {
        /// Shape.
        geometry: hsa_ext_image_geometry_t,
        /// Columns.
        width: usize,
        /// Rows; 0 in one dimension.
        height: usize,
        /// Slices; 0 except in three dimensions.
        depth: usize,
        /// Layers; 0 without an array.
        array_size: usize,
        /// Format of an element.
        format: hsa_ext_image_format_t,
    }
}

abi_struct! {
    /// What an image with mip levels looks like.
    hsa_ext_image_descriptor_v2_t {
        /// Shape.
        geometry: hsa_ext_image_geometry_t,
        /// Columns.
        width: usize,
        /// Rows; 0 in one dimension.
        height: usize,
        /// Slices; 0 except in three dimensions.
        depth: usize,
        /// Layers; 0 without an array.
        array_size: usize,
        /// Format of an element.
        format: hsa_ext_image_format_t,
        /// Mip levels; 0 and 1 mean a plain image.
        mipmap_levels: usize,
    }
}

abi_enum! {
    /// What can be done with a format; a set of bits.
    hsa_ext_image_capability_t: u32 {
        /// Nothing.
        NOT_SUPPORTED = 0x0 => HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED,
        /// Read.
        READ_ONLY = 0x1 => HSA_EXT_IMAGE_CAPABILITY_READ_ONLY,
        /// Write.
        WRITE_ONLY = 0x2 => HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY,
        /// Read and write in one kernel.
        READ_WRITE = 0x4 => HSA_EXT_IMAGE_CAPABILITY_READ_WRITE,
        /// Atomics; deprecated.
        READ_MODIFY_WRITE = 0x8 => HSA_EXT_IMAGE_CAPABILITY_READ_MODIFY_WRITE,
        /// The layout is the same for every kind of access.
        ACCESS_INVARIANT_DATA_LAYOUT = 0x10 => HSA_EXT_IMAGE_CAPABILITY_ACCESS_INVARIANT_DATA_LAYOUT,
    }
}

abi_enum! {
    /// How the elements lie in memory.
    hsa_ext_image_data_layout_t: u32 {
        /// As the agent likes.
        OPAQUE = 0x0 => HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE,
        /// Row after row.
        LINEAR = 0x1 => HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR,
    }
}

abi_struct! {
    /// Memory an image needs.
    hsa_ext_image_data_info_t {
        /// Bytes.
        size: usize,
        /// Alignment, a power of two.
        alignment: usize,
    }
}

abi_struct! {
    /// A box in an image.
    hsa_ext_image_region_t {
        /// First element.
        offset: hsa_dim3_t,
        /// Extents.
        range: hsa_dim3_t,
    }
}

abi_handle! {
    /// Names a sampler of an agent.
    hsa_ext_sampler_t
}

abi_enum! {
    /// What a coordinate outside the image means.
    hsa_ext_sampler_addressing_mode_t: u32 {
        /// Not defined.
        UNDEFINED = 0 => HSA_EXT_SAMPLER_ADDRESSING_MODE_UNDEFINED,
        /// The edge.
        CLAMP_TO_EDGE = 1 => HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE,
        /// The border colour.
        CLAMP_TO_BORDER = 2 => HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER,
        /// The image again.
        REPEAT = 3 => HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT,
        /// The image again, mirrored.
        MIRRORED_REPEAT = 4 => HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT,
    }
}

/// `hsa_ext_sampler_addressing_mode_t` in 32 bits.
pub type hsa_ext_sampler_addressing_mode32_t = u32;

abi_enum! {
    /// Unit of coordinates.
    hsa_ext_sampler_coordinate_mode_t: u32 {
        /// Elements.
        UNNORMALIZED = 0 => HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED,
        /// The whole image is 1.
        NORMALIZED = 1 => HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED,
    }
}

/// `hsa_ext_sampler_coordinate_mode_t` in 32 bits.
pub type hsa_ext_sampler_coordinate_mode32_t = u32;

abi_enum! {
    /// How elements are combined.
    hsa_ext_sampler_filter_mode_t: u32 {
        /// The nearest one.
        NEAREST = 0 => HSA_EXT_SAMPLER_FILTER_MODE_NEAREST,
        /// The neighbours, weighted.
        LINEAR = 1 => HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
    }
}

/// `hsa_ext_sampler_filter_mode_t` in 32 bits.
pub type hsa_ext_sampler_filter_mode32_t = u32;

abi_struct! {
    /// What a sampler does.
    hsa_ext_sampler_descriptor_t {
        /// Unit of coordinates.
        coordinate_mode: hsa_ext_sampler_coordinate_mode32_t,
        /// How elements are combined.
        filter_mode: hsa_ext_sampler_filter_mode32_t,
        /// What is outside.
        address_mode: hsa_ext_sampler_addressing_mode32_t,
    }
}

abi_struct! {
    /// What a sampler does, with one address mode for each axis.
    hsa_ext_sampler_descriptor_v2_t {
        /// Unit of coordinates.
        coordinate_mode: hsa_ext_sampler_coordinate_mode32_t,
        /// How elements are combined.
        filter_mode: hsa_ext_sampler_filter_mode32_t,
        /// What is outside along X, Y and Z.
        address_modes: [hsa_ext_sampler_addressing_mode32_t; 3],
    }
}
