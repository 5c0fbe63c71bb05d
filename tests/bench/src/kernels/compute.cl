// Kernels whose times `hansa bench` compares: this code for the GPU, and the same text compiled by an OpenCL
// implementation for the host's processors when the benchmark runs.

// c = a b, square matrices; one work-item an element.
kernel void multiply(global const float *a, global const float *b, global float *c, uint n) {
    uint x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

#define TILE 16

// The same by tiles in local memory; work-groups of 16 x 16.
__attribute__((reqd_work_group_size(TILE, TILE, 1)))
kernel void multiply_tiled(global const float *a, global const float *b, global float *c, uint n) {
    local float left[TILE][TILE], right[TILE][TILE];
    uint x = get_local_id(0), y = get_local_id(1);
    uint column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (uint at = 0; at < n; at += TILE) {
        left[y][x] = a[row * n + at + x];
        right[y][x] = b[(at + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum += left[y][k] * right[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

// Iterations of z = z z + c until z is out of the circle of radius 2.
kernel void mandelbrot(global uint *counts, uint width, uint limit) {
    uint x = get_global_id(0), y = get_global_id(1);
    float cx = x * (3.0f / width) - 2.0f, cy = y * (2.5f / width) - 1.25f;
    float zx = 0, zy = 0;
    uint n = 0;
    while (n < limit && zx * zx + zy * zy < 4.0f) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
        n++;
    }
    counts[y * width + x] = n;
}

kernel void add(global const float *a, global const float *b, global float *sum) {
    uint i = get_global_id(0);
    sum[i] = a[i] + b[i];
}

// One sum for each work-group of 256.
__attribute__((reqd_work_group_size(256, 1, 1)))
kernel void reduce(global const float *in, global float *sums) {
    local float part[256];
    uint me = get_local_id(0);
    part[me] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_way = 128; half_way > 0; half_way /= 2) {
        if (me < half_way)
            part[me] += part[me + half_way];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0)
        sums[get_group_id(0)] = part[0];
}

// The normal distribution by a polynomial of Abramowitz and Stegun (26.2.17).
static float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * exp(-0.5f * d * d) * sum;
    return d > 0 ? 1.0f - tail : tail;
}

// Prices of European options: strike, and years to go; a stock at 30, 2 % interest, volatility 30 %.
kernel void black_scholes(global const float *strike, global const float *years, global float *call, global float *put) {
    uint i = get_global_id(0);
    float x = strike[i], t = years[i], s = 30.0f, r = 0.02f, v = 0.3f;
    float root = sqrt(t);
    float d1 = (log(s / x) + (r + 0.5f * v * v) * t) / (v * root);
    float d2 = d1 - v * root;
    float discounted = x * exp(-r * t);
    float c = s * normal(d1) - discounted * normal(d2);
    call[i] = c;
    put[i] = c - s + discounted;
}

kernel void nothing(void) {}
