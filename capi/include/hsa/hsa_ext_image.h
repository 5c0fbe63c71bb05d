/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * Images and samplers: extension HSA_EXTENSION_IMAGES, version 1.x.
 */
#ifndef HSA_EXT_IMAGE_H
#define HSA_EXT_IMAGE_H

#include "hsa.h"

#undef HSA_API
#ifdef HSA_EXPORT_IMAGES
#define HSA_API HSA_API_EXPORT
#else
#define HSA_API HSA_API_IMPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status codes and agent properties ---- */

/** Codes added to hsa_status_t. */
enum {
  HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED = 0x3000, /**< The agent has no images of this format. */
  HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED = 0x3001, /**< The agent has no images of this size. */
  /** The agent has no images of this row or slice pitch. */
  HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED = 0x3002,
  HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED = 0x3003 /**< The agent has no samplers like this. */
};

/** What images add to hsa_agent_get_info. */
enum {
  HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS = 0x3000, /**< uint32_t: most elements of a 1D image. */
  /** uint32_t: most elements of a layer of a 1D array. */
  HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS = 0x3001,
  HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS = 0x3002, /**< uint32_t: most elements of a buffer image. */
  HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS = 0x3003, /**< uint32_t[2]: most columns and rows of a 2D image. */
  /** uint32_t[2]: most columns and rows of a layer of a 2D array. */
  HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS = 0x3004,
  /** uint32_t[2]: most columns and rows of a depth image. */
  HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS = 0x3005,
  /** uint32_t[2]: most columns and rows of a layer of a depth array. */
  HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS = 0x3006,
  /** uint32_t[3]: most columns, rows and slices of a 3D image. */
  HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS = 0x3007,
  HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS = 0x3008, /**< uint32_t: most layers of an array. */
  HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES = 0x3009, /**< uint32_t: most read-only images alive. */
  HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES = 0x300A, /**< uint32_t: most other images alive. */
  HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS = 0x300B, /**< uint32_t: most samplers alive. */
  /** size_t: alignment of the row pitch of a linear image. */
  HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT = 0x300C
};

/* ---- Images ---- */

/** Names an image of an agent. */
typedef struct hsa_ext_image_s {
  uint64_t handle; /**< The handle itself. */
} hsa_ext_image_t;

/** Shape of an image. */
typedef enum {
  HSA_EXT_IMAGE_GEOMETRY_1D = 0, /**< Width. */
  HSA_EXT_IMAGE_GEOMETRY_2D = 1, /**< Width and height. */
  HSA_EXT_IMAGE_GEOMETRY_3D = 2, /**< Width, height and depth. */
  HSA_EXT_IMAGE_GEOMETRY_1DA = 3, /**< Array of 1D layers. */
  HSA_EXT_IMAGE_GEOMETRY_2DA = 4, /**< Array of 2D layers. */
  HSA_EXT_IMAGE_GEOMETRY_1DB = 5, /**< Width, over a plain buffer. */
  HSA_EXT_IMAGE_GEOMETRY_2DDEPTH = 6, /**< 2D of depth values. */
  HSA_EXT_IMAGE_GEOMETRY_2DADEPTH = 7 /**< Array of 2D layers of depth values. */
} hsa_ext_image_geometry_t;

/** How a channel is stored and read. */
typedef enum {
  HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8 = 0, /**< Signed, to -1..1, 8 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16 = 1, /**< Signed, to -1..1, 16 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8 = 2, /**< Unsigned, to 0..1, 8 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16 = 3, /**< Unsigned, to 0..1, 16 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT24 = 4, /**< Unsigned, to 0..1, 24 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555 = 5, /**< Unsigned, to 0..1, 5 bits each in 16. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565 = 6, /**< Unsigned, to 0..1, 5, 6 and 5 bits in 16. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010 = 7, /**< Unsigned, to 0..1, 10 bits each in 32. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8 = 8, /**< Signed, 8 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16 = 9, /**< Signed, 16 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32 = 10, /**< Signed, 32 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8 = 11, /**< Unsigned, 8 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16 = 12, /**< Unsigned, 16 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32 = 13, /**< Unsigned, 32 bits. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT = 14, /**< Half precision. */
  HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT = 15 /**< Single precision. */
} hsa_ext_image_channel_type_t;

/** hsa_ext_image_channel_type_t in 32 bits. */
typedef uint32_t hsa_ext_image_channel_type32_t;

/** Which channels an element has. */
typedef enum {
  HSA_EXT_IMAGE_CHANNEL_ORDER_A = 0, /**< Channel A. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_R = 1, /**< Channel R. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_RX = 2, /**< Channel R and padding. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_RG = 3, /**< Channels RG, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_RGX = 4, /**< Channels RG and padding, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_RA = 5, /**< Channels RA, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_RGB = 6, /**< Channels RGB, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_RGBX = 7, /**< Channels RGB and padding, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA = 8, /**< Channels RGBA, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA = 9, /**< Channels BGRA, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB = 10, /**< Channels ARGB, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_ABGR = 11, /**< Channels ABGR, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_SRGB = 12, /**< Channels sRGB-coded RGB, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBX = 13, /**< Channels sRGB-coded RGB and padding, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA = 14, /**< Channels sRGB-coded RGBA, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_SBGRA = 15, /**< Channels sRGB-coded BGRA, in this order. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY = 16, /**< One channel, read as all four. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE = 17, /**< One channel, read as red, green and blue. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH = 18, /**< Depth. */
  HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH_STENCIL = 19 /**< Depth and stencil. */
} hsa_ext_image_channel_order_t;

/** hsa_ext_image_channel_order_t in 32 bits. */
typedef uint32_t hsa_ext_image_channel_order32_t;

/** Format of an element. */
typedef struct hsa_ext_image_format_s {
  hsa_ext_image_channel_type32_t channel_type; /**< Channel type. */
  hsa_ext_image_channel_order32_t channel_order; /**< Channel order. */
} hsa_ext_image_format_t;

/** What an image looks like. */
typedef struct hsa_ext_image_descriptor_s {
  hsa_ext_image_geometry_t geometry; /**< Shape. */
  size_t width; /**< Columns. */
  size_t height; /**< Rows; 0 in one dimension. */
  size_t depth; /**< Slices; 0 except in three dimensions. */
  size_t array_size; /**< Layers; 0 without an array. */
  hsa_ext_image_format_t format; /**< Format of an element. */
} hsa_ext_image_descriptor_t;

/** What an image with mip levels looks like. */
typedef struct hsa_ext_image_descriptor_v2_s {
  hsa_ext_image_geometry_t geometry; /**< Shape. */
  size_t width; /**< Columns. */
  size_t height; /**< Rows; 0 in one dimension. */
  size_t depth; /**< Slices; 0 except in three dimensions. */
  size_t array_size; /**< Layers; 0 without an array. */
  hsa_ext_image_format_t format; /**< Format of an element. */
  size_t mipmap_levels; /**< Mip levels; 0 and 1 mean a plain image. */
} hsa_ext_image_descriptor_v2_t;

/** What can be done with a format; a set of bits. */
typedef enum {
  HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED = 0x0, /**< Nothing. */
  HSA_EXT_IMAGE_CAPABILITY_READ_ONLY = 0x1, /**< Read. */
  HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY = 0x2, /**< Write. */
  HSA_EXT_IMAGE_CAPABILITY_READ_WRITE = 0x4, /**< Read and write in one kernel. */
  HSA_EXT_IMAGE_CAPABILITY_READ_MODIFY_WRITE = 0x8, /**< Atomics; deprecated. */
  /** The layout is the same for every kind of access. */
  HSA_EXT_IMAGE_CAPABILITY_ACCESS_INVARIANT_DATA_LAYOUT = 0x10
} hsa_ext_image_capability_t;

/** How the elements lie in memory. */
typedef enum {
  HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE = 0x0, /**< As the agent likes. */
  HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR = 0x1 /**< Row after row. */
} hsa_ext_image_data_layout_t;

/** Tells what an agent can do with a format. */
hsa_status_t HSA_API hsa_ext_image_get_capability(
    hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
    const hsa_ext_image_format_t *image_format, uint32_t *capability_mask);

/** Tells what an agent can do with a format in a layout. */
hsa_status_t HSA_API hsa_ext_image_get_capability_with_layout(
    hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
    const hsa_ext_image_format_t *image_format, hsa_ext_image_data_layout_t image_data_layout,
    uint32_t *capability_mask);

/** Memory an image needs. */
typedef struct hsa_ext_image_data_info_s {
  size_t size; /**< Bytes. */
  size_t alignment; /**< Alignment, a power of two. */
} hsa_ext_image_data_info_t;

/** Tells which memory an image needs. */
hsa_status_t HSA_API hsa_ext_image_data_get_info(
    hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor,
    hsa_access_permission_t access_permission, hsa_ext_image_data_info_t *image_data_info);

/** Tells which memory an image of a given layout needs. */
hsa_status_t HSA_API hsa_ext_image_data_get_info_with_layout(
    hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor,
    hsa_access_permission_t access_permission, hsa_ext_image_data_layout_t image_data_layout,
    size_t image_data_row_pitch, size_t image_data_slice_pitch,
    hsa_ext_image_data_info_t *image_data_info);

/** Tells which memory an image with mip levels needs. */
hsa_status_t HSA_API hsa_ext_image_data_get_info_v2(
    hsa_agent_t agent, const hsa_ext_image_descriptor_v2_t *image_descriptor,
    hsa_access_permission_t access_permission, hsa_ext_image_data_info_t *image_data_info);

/** Creates an image over memory of the program. */
hsa_status_t HSA_API hsa_ext_image_create(
    hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor, const void *image_data,
    hsa_access_permission_t access_permission, hsa_ext_image_t *image);

/** Creates an image of a given layout over memory of the program. */
hsa_status_t HSA_API hsa_ext_image_create_with_layout(
    hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor, const void *image_data,
    hsa_access_permission_t access_permission, hsa_ext_image_data_layout_t image_data_layout,
    size_t image_data_row_pitch, size_t image_data_slice_pitch, hsa_ext_image_t *image);

/** Creates an image with mip levels over memory of the program. */
hsa_status_t HSA_API hsa_ext_image_create_v2(
    hsa_agent_t agent, const hsa_ext_image_descriptor_v2_t *image_descriptor,
    const void *image_data, hsa_access_permission_t access_permission, hsa_ext_image_t *image);

/** Creates an image of one mip level of another. */
hsa_status_t HSA_API hsa_ext_image_mipmap_array_get_level(
    hsa_agent_t agent, const hsa_ext_image_t *mipmapped_array, uint32_t mip_level,
    const hsa_ext_image_descriptor_v2_t *image_descriptor, hsa_ext_image_t *level_image_out);

/** Destroys an image, not its memory. */
hsa_status_t HSA_API hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t image);

/** Destroys an image with mip levels, not its memory. */
hsa_status_t HSA_API hsa_ext_image_destroy_v2(hsa_agent_t agent, hsa_ext_image_t image);

/** Copies a box between images. */
hsa_status_t HSA_API hsa_ext_image_copy(
    hsa_agent_t agent, hsa_ext_image_t src_image, const hsa_dim3_t *src_offset,
    hsa_ext_image_t dst_image, const hsa_dim3_t *dst_offset, const hsa_dim3_t *range);

/** A box in an image. */
typedef struct hsa_ext_image_region_s {
  hsa_dim3_t offset; /**< First element. */
  hsa_dim3_t range; /**< Extents. */
} hsa_ext_image_region_t;

/** Copies linear memory into a box of an image. */
hsa_status_t HSA_API hsa_ext_image_import(
    hsa_agent_t agent, const void *src_memory, size_t src_row_pitch, size_t src_slice_pitch,
    hsa_ext_image_t dst_image, const hsa_ext_image_region_t *image_region);

/** Copies a box of an image into linear memory. */
hsa_status_t HSA_API hsa_ext_image_export(
    hsa_agent_t agent, hsa_ext_image_t src_image, void *dst_memory, size_t dst_row_pitch,
    size_t dst_slice_pitch, const hsa_ext_image_region_t *image_region);

/** Fills a box of an image with one element. */
hsa_status_t HSA_API hsa_ext_image_clear(
    hsa_agent_t agent, hsa_ext_image_t image, const void *data,
    const hsa_ext_image_region_t *image_region);

/* ---- Samplers ---- */

/** Names a sampler of an agent. */
typedef struct hsa_ext_sampler_s {
  uint64_t handle; /**< The handle itself. */
} hsa_ext_sampler_t;

/** What a coordinate outside the image means. */
typedef enum {
  HSA_EXT_SAMPLER_ADDRESSING_MODE_UNDEFINED = 0, /**< Not defined. */
  HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE = 1, /**< The edge. */
  HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER = 2, /**< The border colour. */
  HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT = 3, /**< The image again. */
  HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT = 4 /**< The image again, mirrored. */
} hsa_ext_sampler_addressing_mode_t;

/** hsa_ext_sampler_addressing_mode_t in 32 bits. */
typedef uint32_t hsa_ext_sampler_addressing_mode32_t;

/** Unit of coordinates. */
typedef enum {
  HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED = 0, /**< Elements. */
  HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED = 1 /**< The whole image is 1. */
} hsa_ext_sampler_coordinate_mode_t;

/** hsa_ext_sampler_coordinate_mode_t in 32 bits. */
typedef uint32_t hsa_ext_sampler_coordinate_mode32_t;

/** How elements are combined. */
typedef enum {
  HSA_EXT_SAMPLER_FILTER_MODE_NEAREST = 0, /**< The nearest one. */
  HSA_EXT_SAMPLER_FILTER_MODE_LINEAR = 1 /**< The neighbours, weighted. */
} hsa_ext_sampler_filter_mode_t;

/** hsa_ext_sampler_filter_mode_t in 32 bits. */
typedef uint32_t hsa_ext_sampler_filter_mode32_t;

/** What a sampler does. */
typedef struct hsa_ext_sampler_descriptor_s {
  hsa_ext_sampler_coordinate_mode32_t coordinate_mode; /**< Unit of coordinates. */
  hsa_ext_sampler_filter_mode32_t filter_mode; /**< How elements are combined. */
  hsa_ext_sampler_addressing_mode32_t address_mode; /**< What is outside. */
} hsa_ext_sampler_descriptor_t;

/** What a sampler does, with one address mode for each axis. */
typedef struct hsa_ext_sampler_descriptor_v2_s {
  hsa_ext_sampler_coordinate_mode32_t coordinate_mode; /**< Unit of coordinates. */
  hsa_ext_sampler_filter_mode32_t filter_mode; /**< How elements are combined. */
  hsa_ext_sampler_addressing_mode32_t address_modes[3]; /**< What is outside along X, Y and Z. */
} hsa_ext_sampler_descriptor_v2_t;

/** Creates a sampler. */
hsa_status_t HSA_API hsa_ext_sampler_create(
    hsa_agent_t agent, const hsa_ext_sampler_descriptor_t *sampler_descriptor,
    hsa_ext_sampler_t *sampler);

/** Creates a sampler with one address mode for each axis. */
hsa_status_t HSA_API hsa_ext_sampler_create_v2(
    hsa_agent_t agent, const hsa_ext_sampler_descriptor_v2_t *sampler_descriptor,
    hsa_ext_sampler_t *sampler);

/** Destroys a sampler. */
hsa_status_t HSA_API hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler);

/* ---- Function tables ---- */

#define hsa_ext_images_1_00
/** Functions of the image extension 1.0. The order differs from ImageExtTable. */
typedef struct hsa_ext_images_1_00_pfn_s {
  hsa_status_t (*hsa_ext_image_get_capability)(
      hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
      const hsa_ext_image_format_t *image_format, uint32_t *capability_mask);
  hsa_status_t (*hsa_ext_image_data_get_info)(
      hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor,
      hsa_access_permission_t access_permission, hsa_ext_image_data_info_t *image_data_info);
  hsa_status_t (*hsa_ext_image_create)(
      hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor, const void *image_data,
      hsa_access_permission_t access_permission, hsa_ext_image_t *image);
  hsa_status_t (*hsa_ext_image_destroy)(hsa_agent_t agent, hsa_ext_image_t image);
  hsa_status_t (*hsa_ext_image_copy)(
      hsa_agent_t agent, hsa_ext_image_t src_image, const hsa_dim3_t *src_offset,
      hsa_ext_image_t dst_image, const hsa_dim3_t *dst_offset, const hsa_dim3_t *range);
  hsa_status_t (*hsa_ext_image_import)(
      hsa_agent_t agent, const void *src_memory, size_t src_row_pitch, size_t src_slice_pitch,
      hsa_ext_image_t dst_image, const hsa_ext_image_region_t *image_region);
  hsa_status_t (*hsa_ext_image_export)(
      hsa_agent_t agent, hsa_ext_image_t src_image, void *dst_memory, size_t dst_row_pitch,
      size_t dst_slice_pitch, const hsa_ext_image_region_t *image_region);
  hsa_status_t (*hsa_ext_image_clear)(
      hsa_agent_t agent, hsa_ext_image_t image, const void *data,
      const hsa_ext_image_region_t *image_region);
  hsa_status_t (*hsa_ext_sampler_create)(
      hsa_agent_t agent, const hsa_ext_sampler_descriptor_t *sampler_descriptor,
      hsa_ext_sampler_t *sampler);
  hsa_status_t (*hsa_ext_sampler_destroy)(hsa_agent_t agent, hsa_ext_sampler_t sampler);
} hsa_ext_images_1_00_pfn_t;

#define hsa_ext_images_1
/** Functions of the image extension 1.x. The order differs from ImageExtTable. */
typedef struct hsa_ext_images_1_pfn_s {
  hsa_status_t (*hsa_ext_image_get_capability)(
      hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
      const hsa_ext_image_format_t *image_format, uint32_t *capability_mask);
  hsa_status_t (*hsa_ext_image_data_get_info)(
      hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor,
      hsa_access_permission_t access_permission, hsa_ext_image_data_info_t *image_data_info);
  hsa_status_t (*hsa_ext_image_create)(
      hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor, const void *image_data,
      hsa_access_permission_t access_permission, hsa_ext_image_t *image);
  hsa_status_t (*hsa_ext_image_destroy)(hsa_agent_t agent, hsa_ext_image_t image);
  hsa_status_t (*hsa_ext_image_copy)(
      hsa_agent_t agent, hsa_ext_image_t src_image, const hsa_dim3_t *src_offset,
      hsa_ext_image_t dst_image, const hsa_dim3_t *dst_offset, const hsa_dim3_t *range);
  hsa_status_t (*hsa_ext_image_import)(
      hsa_agent_t agent, const void *src_memory, size_t src_row_pitch, size_t src_slice_pitch,
      hsa_ext_image_t dst_image, const hsa_ext_image_region_t *image_region);
  hsa_status_t (*hsa_ext_image_export)(
      hsa_agent_t agent, hsa_ext_image_t src_image, void *dst_memory, size_t dst_row_pitch,
      size_t dst_slice_pitch, const hsa_ext_image_region_t *image_region);
  hsa_status_t (*hsa_ext_image_clear)(
      hsa_agent_t agent, hsa_ext_image_t image, const void *data,
      const hsa_ext_image_region_t *image_region);
  hsa_status_t (*hsa_ext_sampler_create)(
      hsa_agent_t agent, const hsa_ext_sampler_descriptor_t *sampler_descriptor,
      hsa_ext_sampler_t *sampler);
  hsa_status_t (*hsa_ext_sampler_destroy)(hsa_agent_t agent, hsa_ext_sampler_t sampler);
  hsa_status_t (*hsa_ext_image_get_capability_with_layout)(
      hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
      const hsa_ext_image_format_t *image_format, hsa_ext_image_data_layout_t image_data_layout,
      uint32_t *capability_mask);
  hsa_status_t (*hsa_ext_image_data_get_info_with_layout)(
      hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor,
      hsa_access_permission_t access_permission, hsa_ext_image_data_layout_t image_data_layout,
      size_t image_data_row_pitch, size_t image_data_slice_pitch,
      hsa_ext_image_data_info_t *image_data_info);
  hsa_status_t (*hsa_ext_image_create_with_layout)(
      hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor, const void *image_data,
      hsa_access_permission_t access_permission, hsa_ext_image_data_layout_t image_data_layout,
      size_t image_data_row_pitch, size_t image_data_slice_pitch, hsa_ext_image_t *image);
  hsa_status_t (*hsa_ext_sampler_create_v2)(
      hsa_agent_t agent, const hsa_ext_sampler_descriptor_v2_t *sampler_descriptor,
      hsa_ext_sampler_t *sampler);
} hsa_ext_images_1_pfn_t;

#ifdef __cplusplus
}
#endif

#endif /* HSA_EXT_IMAGE_H */
