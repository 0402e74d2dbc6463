// Weights on a grid: the rounding of grid.rs, in place and in the shadow.

// One warp per row.
extern "C" __global__ void round_rows(float* weights, T* shadow, u64 rows, u32 width, float share) {
    u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    weights += row * width;
    float squares = 0.0f;
    for (u32 i = threadIdx.x % 32; i < width; i += 32) squares += weights[i] * weights[i];
    float step = share * sqrtf(warp_sum(squares) / (float)width);
    for (u32 i = threadIdx.x % 32; i < width; i += 32) {
        float level = fminf(fmaxf(rintf(weights[i] / step), -127.0f), 127.0f);
        // A row of zeros stays as it is. A row with a NaN must not become zeros.
        float w = step == 0.0f ? 0.0f : step * level;
        weights[i] = w;
#if HALF
        store1(shadow + row * width + i, w);
#endif
    }
}
