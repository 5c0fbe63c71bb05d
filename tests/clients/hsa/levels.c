/* The functions of images that came after AMD's runtime 5.2.3: descriptions with mip levels, and one level of an image. */
#include "machine.h"

#include <hsa/hsa_ext_image.h>

enum { WIDTH = 7, HEIGHT = 3 };

static hsa_ext_image_descriptor_v2_t described(hsa_ext_image_channel_type_t type, hsa_ext_image_channel_order_t order,
                                               size_t width, size_t levels)
{
    return (hsa_ext_image_descriptor_v2_t){ HSA_EXT_IMAGE_GEOMETRY_2D, width, HEIGHT, 0, 0, { type, order }, levels };
}

int main(int argc, char **argv)
{
    (void)argv;
    NEED(argc == 2);
    NEED_OK(hsa_init());
    find_agents();
    const hsa_agent_t device = gpu->handle;
    const hsa_ext_image_descriptor_v2_t words =
        described(HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, HSA_EXT_IMAGE_CHANNEL_ORDER_R, WIDTH, 1);
    hsa_ext_image_data_info_t info = { 0 };
    NEED_OK(hsa_ext_image_data_get_info_v2(device, &words, HSA_ACCESS_PERMISSION_RW, &info));
    char *data = pool_alloc(cpu->fine, info.size + info.alignment);
    data += -(uintptr_t)data % info.alignment;
    hsa_ext_image_t whole = { 0 }, level = { 0 };
    NEED_OK(hsa_ext_image_create_v2(device, &words, data, HSA_ACCESS_PERMISSION_RW, &whole));

    /* One level is all there is, and it is the image itself. */
    NEED_OK(hsa_ext_image_mipmap_array_get_level(device, &whole, 0, &words, &level));
    CHECK(level.handle != 0 && level.handle != whole.handle, "%#lx", (long)level.handle);
    uint32_t out[WIDTH * HEIGHT] = { 0 }, in[WIDTH * HEIGHT];
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        in[i] = i * 77773;
    const hsa_ext_image_region_t all = { { 0, 0, 0 }, { WIDTH, HEIGHT, 1 } };
    CHECK_OK(hsa_ext_image_import(device, in, 0, 0, level, &all));
    CHECK_OK(hsa_ext_image_export(device, whole, out, 0, 0, &all));
    CHECK(memcmp(in, out, sizeof in) == 0, "what is written to the level is not in the image");

    /* Elements of another format, but of the same size; of another size; of another shape. */
    hsa_ext_image_t other = { 0 };
    hsa_ext_image_descriptor_v2_t wrong =
        described(HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA, WIDTH, 1);
    CHECK_OK(hsa_ext_image_mipmap_array_get_level(device, &whole, 0, &wrong, &other));
    CHECK_OK(hsa_ext_image_destroy_v2(device, other));
    wrong = described(HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_R, WIDTH, 1);
    CHECK_STATUS(hsa_ext_image_mipmap_array_get_level(device, &whole, 0, &wrong, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    wrong = described(HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, HSA_EXT_IMAGE_CHANNEL_ORDER_R, WIDTH - 1, 1);
    CHECK_STATUS(hsa_ext_image_mipmap_array_get_level(device, &whole, 0, &wrong, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_ext_image_mipmap_array_get_level(device, &whole, 1, &words, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_ext_image_mipmap_array_get_level(device, NULL, 0, &words, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_ext_image_mipmap_array_get_level(device, &whole, 0, NULL, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_ext_image_mipmap_array_get_level(device, &whole, 0, &words, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);

    /* There are no images with more than one level. */
    wrong = described(HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, HSA_EXT_IMAGE_CHANNEL_ORDER_R, WIDTH, 2);
    CHECK_STATUS(hsa_ext_image_data_get_info_v2(device, &wrong, HSA_ACCESS_PERMISSION_RW, &info),
                 (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);

    CHECK_OK(hsa_ext_image_destroy(device, level));
    CHECK_STATUS(hsa_ext_image_mipmap_array_get_level(device, &level, 0, &words, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hsa_ext_image_destroy_v2(device, whole));
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
