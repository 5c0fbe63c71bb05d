/* Images and samplers: what the functions say, copies of bytes for every format and geometry, and kernels that read
 * and write what the functions made. With a second argument `amd` it leaves out what AMD's runtime 5.2.3 gets wrong. */
#include "machine.h"

#include <hsa/hsa_ext_image.h>

#include <math.h>

enum { TYPES = 16, ORDERS = 20, GEOMETRIES = 8, GUARD = 0xa5 };

static hsa_agent_t device;
static bool amds;
static hsa_queue_t *queue;

static hsa_ext_image_format_t format_of(uint32_t type, uint32_t order)
{
    return (hsa_ext_image_format_t){ .channel_type = type, .channel_order = order };
}

static const hsa_ext_image_format_t RGBA8 = { HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA };
static const hsa_ext_image_format_t FLOAT4 = { HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA };

static size_t element_bytes(hsa_ext_image_format_t format)
{
    static const unsigned char bytes[TYPES] = { 1, 2, 1, 2, 0, 2, 2, 4, 1, 2, 4, 1, 2, 4, 2, 4 };
    size_t channels = 1;
    switch (format.channel_order) {
    case HSA_EXT_IMAGE_CHANNEL_ORDER_RG:
    case HSA_EXT_IMAGE_CHANNEL_ORDER_RA:
        channels = 2;
        break;
    case HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA:
    case HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA:
    case HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB:
    case HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA:
        channels = 4;
        break;
    default:
        break;
    }
    return channels * bytes[format.channel_type];
}

static hsa_ext_image_descriptor_t described(hsa_ext_image_geometry_t geometry, size_t width, size_t height, size_t depth,
                                            size_t layers, hsa_ext_image_format_t format)
{
    return (hsa_ext_image_descriptor_t){ geometry, width, height, depth, layers, format };
}

/* An image in memory of the device. */
struct image {
    hsa_ext_image_t handle;
    void *data;
};

static struct image new_image(hsa_ext_image_descriptor_t descriptor)
{
    hsa_ext_image_data_info_t info = { 0 };
    NEED_OK(hsa_ext_image_data_get_info(device, &descriptor, HSA_ACCESS_PERMISSION_RW, &info));
    NEED(info.size > 0 && info.alignment > 0 && (info.alignment & (info.alignment - 1)) == 0 && info.alignment <= 65536);
    struct image image = { 0 };
    image.data = pool_alloc(gpu->coarse, info.size);
    NEED((uintptr_t)image.data % info.alignment == 0);
    NEED_OK(hsa_ext_image_create(device, &descriptor, image.data, HSA_ACCESS_PERMISSION_RW, &image.handle));
    NEED(image.handle.handle != 0);
    return image;
}

static void drop_image(struct image image)
{
    CHECK_OK(hsa_ext_image_destroy(device, image.handle));
    CHECK_OK(hsa_amd_memory_pool_free(image.data));
}

static hsa_ext_image_region_t box(uint32_t x, uint32_t y, uint32_t z, uint32_t w, uint32_t h, uint32_t d)
{
    return (hsa_ext_image_region_t){ { x, y, z }, { w, h, d } };
}

static uint8_t noise(uint32_t i) { return (uint8_t)((i * 2654435761u) >> 24); }

/* ---- what is there ---- */

static void tables(void)
{
    bool there = false;
    CHECK_OK(hsa_agent_extension_supported(HSA_EXTENSION_IMAGES, device, 1, 0, &there));
    CHECK(there, "%d", there);
    uint8_t extensions[128] = { 0 };
    CHECK_OK(hsa_agent_get_info(device, HSA_AGENT_INFO_EXTENSIONS, extensions));
    CHECK(extensions[0] & 1 << HSA_EXTENSION_IMAGES, "%#x", extensions[0]);

    union {
        hsa_ext_images_1_00_pfn_t functions;
        uint8_t bytes[sizeof(hsa_ext_images_1_00_pfn_t) + 8];
    } table;
    memset(&table, GUARD, sizeof table);
    CHECK_OK(hsa_system_get_extension_table(HSA_EXTENSION_IMAGES, 1, 0, &table));
    CHECK(table.functions.hsa_ext_image_create == hsa_ext_image_create, "not the exported function");
    CHECK(table.functions.hsa_ext_sampler_destroy == hsa_ext_sampler_destroy, "not the exported function");
    for (size_t i = sizeof table.functions; i < sizeof table; i++)
        CHECK(table.bytes[i] == GUARD, "byte %zu", i);
    hsa_ext_images_1_pfn_t all = { 0 };
    CHECK_OK(hsa_system_get_major_extension_table(HSA_EXTENSION_IMAGES, 1, sizeof all, &all));
    CHECK(all.hsa_ext_image_create_with_layout == hsa_ext_image_create_with_layout, "not the exported function");

    /* 32 bits each, and nothing behind them. */
    static const struct {
        uint32_t attribute, count, values[3];
    } limits[] = {
        { HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS, 1, { 16384 } },
        { HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS, 1, { 16384 } },
        { HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS, 1, { UINT32_MAX } },
        { HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS, 2, { 16384, 16384 } },
        { HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS, 2, { 16384, 16384 } },
        { HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS, 3, { 16384, 16384, 8192 } },
        { HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS, 1, { 8192 } },
        { HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES, 1, { 128 } },
        { HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES, 1, { 64 } },
        /* AMD's gives the number of the chip. */
        { HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS, 1, { 16 } },
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits - amds; i++) {
        uint32_t got[4] = { 77, 77, 77, 77 };
        CHECK_OK(hsa_agent_get_info(device, limits[i].attribute, got));
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t want = k < limits[i].count ? limits[i].values[k] : 77;
            CHECK(got[k] == want, "attribute %#x [%u]: %u, not %u", limits[i].attribute, k, got[k], want);
        }
    }
}

/* ---- bytes in and out ---- */

struct shape {
    hsa_ext_image_geometry_t geometry;
    uint32_t sizes[4]; /* as a descriptor has them */
    uint32_t extent[3]; /* as a region has them */
};

static const struct shape shapes[GEOMETRIES] = {
    { HSA_EXT_IMAGE_GEOMETRY_1D, { 37, 0, 0, 0 }, { 37, 1, 1 } },
    { HSA_EXT_IMAGE_GEOMETRY_2D, { 19, 11, 0, 0 }, { 19, 11, 1 } },
    { HSA_EXT_IMAGE_GEOMETRY_3D, { 13, 7, 5, 0 }, { 13, 7, 5 } },
    { HSA_EXT_IMAGE_GEOMETRY_1DA, { 21, 0, 0, 6 }, { 21, 6, 1 } },
    { HSA_EXT_IMAGE_GEOMETRY_2DA, { 13, 7, 0, 4 }, { 13, 7, 4 } },
    { HSA_EXT_IMAGE_GEOMETRY_1DB, { 100, 0, 0, 0 }, { 100, 1, 1 } },
    { HSA_EXT_IMAGE_GEOMETRY_2DDEPTH, { 19, 11, 0, 0 }, { 19, 11, 1 } },
    { HSA_EXT_IMAGE_GEOMETRY_2DADEPTH, { 13, 7, 0, 4 }, { 13, 7, 4 } },
};

/* Fills an image with noise, changes a box of it, and looks at all of it, through memory with other pitches. */
static void round_trip(const struct shape *shape, hsa_ext_image_format_t format)
{
    const size_t bytes = element_bytes(format);
    const uint32_t *e = shape->extent;
    struct image image = new_image(
        described(shape->geometry, shape->sizes[0], shape->sizes[1], shape->sizes[2], shape->sizes[3], format));
    size_t row = e[0] * bytes, slice = row * e[1], size = slice * e[2];
    uint8_t *memory = shared_alloc(size + 4096), *want = malloc(size);
    for (size_t i = 0; i < size; i++)
        want[i] = memory[i] = noise((uint32_t)i);
    hsa_ext_image_region_t all = box(0, 0, 0, e[0], e[1], e[2]);
    CHECK_OK(hsa_ext_image_import(device, memory, 0, 0, image.handle, &all));
    /* The box leaves one element out on every side that has room. */
    hsa_ext_image_region_t part = box(1, e[1] > 2, e[2] > 2, e[0] - 2, e[1] > 2 ? e[1] - 2 : 1, e[2] > 2 ? e[2] - 2 : 1);
    size_t part_row = row + 3 * bytes, part_slice = part_row * e[1];
    memset(memory, GUARD, size + 4096);
    bool sliced = shape->geometry == HSA_EXT_IMAGE_GEOMETRY_3D || e[2] > 1;
    uint8_t *source = shared_alloc(part_slice * e[2] + 4096);
    for (size_t i = 0; i < part_slice * e[2] + 4096; i++)
        source[i] = noise((uint32_t)i + 999);
    CHECK_OK(hsa_ext_image_import(device, source, part_row, sliced ? part_slice : 0, image.handle, &part));
    for (uint32_t z = 0; z < part.range.z; z++)
        for (uint32_t y = 0; y < part.range.y; y++)
            memcpy(want + (z + part.offset.z) * slice + (y + part.offset.y) * row + part.offset.x * bytes,
                   source + z * part_slice + y * part_row, part.range.x * bytes);
    CHECK_OK(hsa_ext_image_export(device, image.handle, memory, 0, 0, &all));
    size_t wrong = 0;
    while (wrong < size && memory[wrong] == want[wrong])
        wrong++;
    CHECK(wrong == size, "geometry %u type %u order %u: byte %zu is %#x, not %#x", shape->geometry, format.channel_type,
          format.channel_order, wrong, memory[wrong], want[wrong]);
    CHECK(memory[size] == GUARD && memory[size + 4095] == GUARD, "export wrote too much");
    CHECK_OK(hsa_amd_memory_pool_free(source));
    free(want);
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    drop_image(image);
}

static void round_trips(void)
{
    int supported = 0;
    for (uint32_t g = 0; g < GEOMETRIES; g++)
        for (uint32_t order = 0; order < ORDERS; order++)
            for (uint32_t type = 0; type < TYPES; type++) {
                hsa_ext_image_format_t format = format_of(type, order);
                uint32_t mask = 0xeeee;
                CHECK_OK(hsa_ext_image_get_capability(device, shapes[g].geometry, &format, &mask));
                if (mask == 0)
                    continue;
                supported++;
                round_trip(&shapes[g], format);
            }
    CHECK(supported == 5 * 86 + 83 + 2 * 2, "%d", supported);
}

static void box_copies(void)
{
    struct image flat = new_image(described(HSA_EXT_IMAGE_GEOMETRY_2D, 16, 16, 0, 0, RGBA8));
    struct image solid = new_image(described(HSA_EXT_IMAGE_GEOMETRY_3D, 16, 16, 4, 0, RGBA8));
    uint32_t *memory = shared_alloc(16 * 16 * 4 * 4);
    for (uint32_t i = 0; i < 16 * 16; i++)
        memory[i] = i * 2654435761u;
    hsa_ext_image_region_t plane = box(0, 0, 0, 16, 16, 1), all = box(0, 0, 0, 16, 16, 4);
    CHECK_OK(hsa_ext_image_import(device, memory, 0, 0, flat.handle, &plane));
    float black[4] = { 0 };
    CHECK_OK(hsa_ext_image_clear(device, solid.handle, black, &all));
    hsa_dim3_t from = { 3, 5, 0 }, to = { 1, 2, 3 }, range = { 7, 6, 1 };
    CHECK_OK(hsa_ext_image_copy(device, flat.handle, &from, solid.handle, &to, &range));
    CHECK_OK(hsa_ext_image_export(device, solid.handle, memory, 0, 0, &all));
    int wrong = 0;
    for (uint32_t i = 0; i < 16 * 16 * 4; i++) {
        uint32_t x = i % 16, y = i / 16 % 16, z = i / 256;
        bool inside = z == 3 && x >= 1 && x < 8 && y >= 2 && y < 8;
        uint32_t want = inside ? ((y + 3) * 16 + x + 2) * 2654435761u : 0;
        wrong += memory[i] != want;
    }
    CHECK(wrong == 0, "%d elements", wrong);
    hsa_dim3_t far = { 10, 0, 0 };
    if (!amds)
        CHECK_STATUS(hsa_ext_image_copy(device, flat.handle, &far, solid.handle, &to, &range),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct image other = new_image(described(HSA_EXT_IMAGE_GEOMETRY_2D, 16, 16, 0, 0, FLOAT4));
    CHECK_STATUS(hsa_ext_image_copy(device, flat.handle, &from, other.handle, &from, &range),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    drop_image(other);
    drop_image(flat);
    drop_image(solid);
    if (amds) {
        CHECK_OK(hsa_amd_memory_pool_free(memory));
        return; /* its copies through the sRGB curve leave the image as it was, or black */
    }

    /* All bytes through the sRGB curve and back. */
    hsa_ext_image_format_t curved = format_of(HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA);
    struct image srgb = new_image(described(HSA_EXT_IMAGE_GEOMETRY_1D, 256, 0, 0, 0, curved));
    struct image linear = new_image(described(HSA_EXT_IMAGE_GEOMETRY_1D, 256, 0, 0, 0, RGBA8));
    uint8_t *bytes = (uint8_t *)memory;
    for (int i = 0; i < 256; i++)
        memset(bytes + 4 * i, i, 4);
    hsa_ext_image_region_t line = box(0, 0, 0, 256, 1, 1);
    hsa_dim3_t none = { 0, 0, 0 };
    CHECK_OK(hsa_ext_image_import(device, memory, 0, 0, srgb.handle, &line));
    CHECK_OK(hsa_ext_image_copy(device, srgb.handle, &none, linear.handle, &none, &line.range));
    CHECK_OK(hsa_ext_image_export(device, linear.handle, memory, 0, 0, &line));
    for (int i = 0; i < 256; i++) {
        double c = i / 255.0, value = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
        CHECK(bytes[4 * i] == (int)nearbyint(value * 255) && bytes[4 * i + 3] == i, "%d became %d, alpha %d", i, bytes[4 * i],
              bytes[4 * i + 3]);
    }
    drop_image(srgb);
    drop_image(linear);
    CHECK_OK(hsa_amd_memory_pool_free(memory));
}

/* ---- kernels ---- */

static struct module module;

struct arguments {
    uint64_t values[4];
    uint64_t hidden[8];
};

static void launch(const char *name, uint32_t items, uint64_t first, uint64_t second, uint64_t third, uint64_t fourth)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s.kd", name);
    struct kernel kernel = find_kernel(&module, device, symbol);
    NEED(kernel.kernarg_size <= sizeof(struct arguments));
    struct arguments *arguments = pool_alloc(cpu->kernarg, sizeof *arguments);
    *arguments = (struct arguments){ .values = { first, second, third, fourth } };
    hsa_signal_t done = new_signal(1);
    /* One work-item to a group where nothing larger divides. */
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&kernel, arguments, items, items % 64 ? 1 : 64, done);
    submit(queue, &packet);
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(arguments));
}

/* Clears a box of an image of each geometry, and has a kernel read all of it. */
static void cleared_and_loaded(void)
{
    static const char *loads[] = { "load_1d", "load_2d", "load_3d", "load_1da", "load_2da", "load_1db", "load_2ddepth" };
    /* AMD's does not clear images of depth, and says that it did. */
    for (uint32_t g = 0; g < sizeof loads / sizeof *loads - amds; g++) {
        const struct shape *shape = &shapes[g];
        const uint32_t *e = shape->extent;
        bool depth = shape->geometry == HSA_EXT_IMAGE_GEOMETRY_2DDEPTH;
        hsa_ext_image_format_t format =
            depth ? format_of(HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH) : RGBA8;
        struct image image = new_image(
            described(shape->geometry, shape->sizes[0], shape->sizes[1], shape->sizes[2], shape->sizes[3], format));
        float ground[4] = { 1.0f, 0.2f, 0.0f, 0.4f }, colour[4] = { 0.0f, 0.6f, 1.0f, 0.8f };
        hsa_ext_image_region_t all = box(0, 0, 0, e[0], e[1], e[2]);
        hsa_ext_image_region_t part = box(2, e[1] > 1, e[2] > 1, e[0] - 5, e[1] > 1 ? e[1] - 1 : 1, 1);
        CHECK_OK(hsa_ext_image_clear(device, image.handle, ground, &all));
        CHECK_OK(hsa_ext_image_clear(device, image.handle, colour, &part));
        uint32_t count = e[0] * e[1] * e[2], wrong = 0, first = 0;
        float *out = shared_alloc(count * 16);
        launch(loads[g], count, image.handle.handle, (uint64_t)(uintptr_t)out, 0, 0);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t x = i % e[0], y = i / e[0] % e[1], z = i / (e[0] * e[1]);
            bool inside = x >= part.offset.x && x < part.offset.x + part.range.x && y >= part.offset.y &&
                          y < part.offset.y + part.range.y && z >= part.offset.z && z < part.offset.z + part.range.z;
            const float *want = inside ? colour : ground;
            bool same = out[4 * i] == want[0];
            for (int c = 1; !depth && c < 4; c++)
                same &= out[4 * i + c] == (float)(nearbyint(want[c] * 255.0) / 255.0);
            if (!same && wrong++ == 0)
                first = i;
        }
        CHECK(wrong == 0, "%s: %u of %u, the first is %u: %g %g %g %g", loads[g], wrong, count, first, (double)out[4 * first],
              (double)out[4 * first + 1], (double)out[4 * first + 2], (double)out[4 * first + 3]);
        CHECK_OK(hsa_amd_memory_pool_free(out));
        drop_image(image);
    }
}

static float texel(int x, int y, int c) { return (float)((x * 37 + y * 101 + c * 11) % 64); }

static void sampled(void)
{
    enum { W = 24, H = 10, POINTS = 256 };
    struct image image = new_image(described(HSA_EXT_IMAGE_GEOMETRY_2D, W, H, 0, 0, FLOAT4));
    float *texels = shared_alloc(W * H * 16), *at = shared_alloc(POINTS * 16), *out = shared_alloc(POINTS * 16);
    for (int i = 0; i < W * H * 4; i++)
        texels[i] = texel(i / 4 % W, i / 4 / W, i % 4);
    hsa_ext_image_region_t all = box(0, 0, 0, W, H, 1);
    CHECK_OK(hsa_ext_image_import(device, texels, 0, 0, image.handle, &all));
    for (uint32_t mode = HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE; mode <= HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT; mode++)
        for (uint32_t filter = 0; filter < 2; filter++) {
            hsa_ext_sampler_descriptor_t wanted = { HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED, filter, mode };
            hsa_ext_sampler_t sampler = { 0 };
            NEED_OK(hsa_ext_sampler_create(device, &wanted, &sampler));
            for (int i = 0; i < POINTS; i++) {
                at[4 * i] = ((float)(i * 37 % (W * 16)) / 8.0f - W / 2 + 0.02f) / W;
                at[4 * i + 1] = ((float)(i * 23 % (H * 16)) / 8.0f - H / 2 + 0.02f) / H;
            }
            launch("sample_2d", POINTS, image.handle.handle, sampler.handle, (uint64_t)(uintptr_t)at, (uint64_t)(uintptr_t)out);
            int wrong = 0;
            for (int i = 0; i < POINTS; i++)
                for (int c = 0; c < 4; c++) {
                    double u = at[4 * i] * (double)W - (filter ? 0.5 : 0), v = at[4 * i + 1] * (double)H - (filter ? 0.5 : 0);
                    int x0 = (int)floor(u), y0 = (int)floor(v);
                    double want = 0;
                    for (int corner = 0; corner < (filter ? 4 : 1); corner++) {
                        int x = x0 + (corner & 1), y = y0 + (corner >> 1);
                        double wx = corner & 1 ? u - x0 : 1 - (u - x0), wy = corner >> 1 ? v - y0 : 1 - (v - y0);
                        if (mode == HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT) {
                            x = (x % W + W) % W;
                            y = (y % H + H) % H;
                        } else if (mode == HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE) {
                            x = x < 0 ? 0 : x >= W ? W - 1 : x;
                            y = y < 0 ? 0 : y >= H ? H - 1 : y;
                        } else if (x < 0 || x >= W || y < 0 || y >= H) {
                            continue;
                        }
                        want += (filter ? wx * wy : 1) * (double)texel(x, y, c);
                    }
                    wrong += fabs((double)out[4 * i + c] - want) > (filter ? 2 * 64.0 / 256 : 0);
                }
            CHECK(wrong == 0, "mode %u filter %u: %d", mode, filter, wrong);
            CHECK_OK(hsa_ext_sampler_destroy(device, sampler));
            if (!amds)
                CHECK_STATUS(hsa_ext_sampler_destroy(device, sampler), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
    CHECK_OK(hsa_amd_memory_pool_free(texels));
    CHECK_OK(hsa_amd_memory_pool_free(at));
    CHECK_OK(hsa_amd_memory_pool_free(out));
    drop_image(image);
}

/* A kernel writes, and the bytes are looked at; with rows further apart than needed. */
static void stored(void)
{
    enum { W = 20, H = 6 };
    hsa_ext_image_format_t format = format_of(HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA);
    hsa_ext_image_descriptor_t descriptor = described(HSA_EXT_IMAGE_GEOMETRY_2D, W, H, 0, 0, format);
    hsa_ext_image_data_info_t info = { 0 };
    CHECK_OK(hsa_ext_image_data_get_info_with_layout(device, &descriptor, HSA_ACCESS_PERMISSION_RW,
                                                     HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 512, 0, &info));
    CHECK(info.size == 512 * H, "%zu", info.size);
    uint8_t *data = shared_alloc(info.size);
    hsa_ext_image_t image = { 0 };
    NEED_OK(hsa_ext_image_create_with_layout(device, &descriptor, data, HSA_ACCESS_PERMISSION_RW,
                                             HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 512, 0, &image));
    float *in = shared_alloc(W * H * 16);
    for (int i = 0; i < W * H * 4; i++)
        in[i] = (float)(i % 300) / 255.0f - 0.05f;
    launch("store_2d", W * H, image.handle, (uint64_t)(uintptr_t)in, 0, 0);
    int wrong = 0;
    for (int i = 0; i < W * H; i++)
        for (int c = 0; c < 4; c++) {
            float value = in[4 * i + (c == 3 ? 3 : 2 - c)];
            value = value < 0 ? 0 : value > 1 ? 1 : value;
            wrong += data[i / W * 512 + i % W * 4 + c] != (int)nearbyint((double)value * 255);
        }
    CHECK(wrong == 0, "%d bytes", wrong);
    CHECK_OK(hsa_ext_image_destroy(device, image));
    if (!amds)
        CHECK_STATUS(hsa_ext_image_destroy(device, image), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hsa_amd_memory_pool_free(data));
    CHECK_OK(hsa_amd_memory_pool_free(in));

    struct image solid = new_image(described(HSA_EXT_IMAGE_GEOMETRY_3D, 5, 4, 3, 0,
                                             format_of(HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16, HSA_EXT_IMAGE_CHANNEL_ORDER_RG)));
    uint32_t *numbers = shared_alloc(60 * 16);
    for (uint32_t i = 0; i < 240; i++)
        numbers[i] = i * 400;
    launch("store_3dui", 60, solid.handle.handle, (uint64_t)(uintptr_t)numbers, 0, 0);
    uint16_t *back = shared_alloc(120 * sizeof *back);
    hsa_ext_image_region_t all = box(0, 0, 0, 5, 4, 3);
    CHECK_OK(hsa_ext_image_export(device, solid.handle, back, 0, 0, &all));
    for (uint32_t i = 0; i < 120; i++) {
        uint32_t want = numbers[i / 2 * 4 + i % 2];
        CHECK(back[i] == (want > 65535 ? 65535 : want), "[%u] = %u, not %u", i, back[i], want);
    }
    CHECK_OK(hsa_amd_memory_pool_free(numbers));
    CHECK_OK(hsa_amd_memory_pool_free(back));
    drop_image(solid);
}

static void asked(void)
{
    hsa_ext_image_format_t format = format_of(HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RG);
    struct image layers = new_image(described(HSA_EXT_IMAGE_GEOMETRY_2DA, 33, 17, 0, 5, format));
    int32_t *out = shared_alloc(64);
    launch("about", 1, layers.handle.handle, (uint64_t)(uintptr_t)out, 0, 0);
    /* CLK_HALF_FLOAT and CLK_RG. */
    static const int32_t want[] = { 33, 17, 5, 0x10dd, 0x10b2 };
    for (int i = 0; i < 5; i++)
        CHECK(out[i] == want[i], "[%d] = %#x, not %#x", i, out[i], want[i]);
    CHECK_OK(hsa_amd_memory_pool_free(out));
    drop_image(layers);
}

/* The hardware's words of an image, given back as another API would, over other memory. */
static void adopted(void)
{
    enum { W = 20, H = 6 };
    hsa_ext_image_descriptor_t descriptor = described(HSA_EXT_IMAGE_GEOMETRY_2D, W, H, 0, 0, RGBA8);
    uint8_t *data = shared_alloc(4096 + 256 * H);
    hsa_ext_image_t made = { 0 };
    NEED_OK(hsa_ext_image_create_with_layout(device, &descriptor, data, HSA_ACCESS_PERMISSION_RO,
                                             HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 256, 0, &made));
    uint32_t chip = 0, words[10] = { 1 };
    CHECK_OK(hsa_agent_get_info(device, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_CHIP_ID, &chip));
    words[1] = 0x1002u << 16 | chip;
    memcpy(words + 2, (const void *)(uintptr_t)made.handle, 32);
    /* Where it is comes from the call. */
    words[2] = 0;
    words[3] &= ~0xffu;
    for (int i = 0; i < 256 * H; i++)
        data[i] = noise((uint32_t)i);
    const hsa_amd_image_descriptor_t *theirs = (const void *)words;
    hsa_ext_image_t image = { 0 };
    NEED_OK(hsa_amd_image_create(device, &descriptor, theirs, data, HSA_ACCESS_PERMISSION_RO, &image));
    float *out = shared_alloc(W * H * 16);
    launch("load_2d", W * H, image.handle, (uint64_t)(uintptr_t)out, 0, 0);
    int wrong = 0;
    for (int i = 0; i < W * H * 4; i++)
        wrong += out[i] != (float)(data[i / (4 * W) * 256 + i % (4 * W)] / 255.0);
    CHECK(wrong == 0, "%d channels", wrong);
    CHECK_OK(hsa_ext_image_destroy(device, image));
    words[0] = 2;
    CHECK_STATUS(hsa_amd_image_create(device, &descriptor, theirs, data, HSA_ACCESS_PERMISSION_RO, &image),
                 (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
    words[0] = 1;
    words[1]++;
    CHECK_STATUS(hsa_amd_image_create(device, &descriptor, theirs, data, HSA_ACCESS_PERMISSION_RO, &image),
                 (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
    CHECK_OK(hsa_amd_memory_pool_free(data));
    CHECK_OK(hsa_amd_memory_pool_free(out));
    CHECK_OK(hsa_ext_image_destroy(device, made));
}

int main(int argc, char **argv)
{
    NEED(argc == 2 || argc == 3);
    amds = argc == 3 && strcmp(argv[2], "amd") == 0;
    NEED_OK(hsa_init());
    find_agents();
    device = gpu->handle;
    queue = new_queue(device, 64);
    tables();
    round_trips();
    box_copies();
    for (int level = 1; level >= 0; level--) {
        module = load_module(kernel_path(argv[1], gpu, level ? "O3" : "O0", "images"), device);
        cleared_and_loaded();
        sampled();
        stored();
        asked();
        adopted();
        unload_module(&module);
    }
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
