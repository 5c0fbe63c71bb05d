// Images, which the host does not have. For gfx90a the compiler needs at least -O1.

kernel void sample_2d(read_only image2d_t image, sampler_t sampler, global const float4 *at, global float4 *out)
{
    size_t i = get_global_id(0);
    out[i] = read_imagef(image, sampler, at[i].xy);
}

kernel void sample_3d(read_only image3d_t image, sampler_t sampler, global const float4 *at, global float4 *out)
{
    size_t i = get_global_id(0);
    out[i] = read_imagef(image, sampler, at[i]);
}

// Elements in order: columns, rows, slices or layers.
kernel void load_1d(read_only image1d_t image, global float4 *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(image, i);
}

kernel void load_1da(read_only image1d_array_t image, global float4 *out)
{
    int i = get_global_id(0), width = get_image_width(image);
    out[i] = read_imagef(image, (int2)(i % width, i / width));
}

kernel void load_1db(read_only image1d_buffer_t image, global float4 *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(image, i);
}

kernel void load_2d(read_only image2d_t image, global float4 *out)
{
    int i = get_global_id(0), width = get_image_width(image);
    out[i] = read_imagef(image, (int2)(i % width, i / width));
}

kernel void load_2da(read_only image2d_array_t image, global float4 *out)
{
    int i = get_global_id(0), width = get_image_width(image), height = get_image_height(image);
    out[i] = read_imagef(image, (int4)(i % width, i / width % height, i / (width * height), 0));
}

kernel void load_3d(read_only image3d_t image, global float4 *out)
{
    int i = get_global_id(0), width = get_image_width(image), height = get_image_height(image);
    out[i] = read_imagef(image, (int4)(i % width, i / width % height, i / (width * height), 0));
}

kernel void load_2ddepth(read_only image2d_depth_t image, global float4 *out)
{
    int i = get_global_id(0), width = get_image_width(image);
    out[i] = (float4)(read_imagef(image, (int2)(i % width, i / width)), 0.0f, 0.0f, 1.0f);
}

kernel void load_2dui(read_only image2d_t image, global uint4 *out)
{
    int i = get_global_id(0), width = get_image_width(image);
    out[i] = read_imageui(image, (int2)(i % width, i / width));
}

kernel void store_2d(write_only image2d_t image, global const float4 *in)
{
    int i = get_global_id(0), width = get_image_width(image);
    write_imagef(image, (int2)(i % width, i / width), in[i]);
}

kernel void store_3dui(write_only image3d_t image, global const uint4 *in)
{
    int i = get_global_id(0), width = get_image_width(image), height = get_image_height(image);
    write_imageui(image, (int4)(i % width, i / width % height, i / (width * height), 0), in[i]);
}

kernel void about(read_only image2d_array_t image, global int *out)
{
    out[0] = get_image_width(image);
    out[1] = get_image_height(image);
    out[2] = get_image_array_size(image);
    out[3] = get_image_channel_data_type(image);
    out[4] = get_image_channel_order(image);
}
