// Weights of few bits: the rounding of coarse.rs, in place and in the shadow.

// Max's levels above zero for 2, 3 and 4 bits.
__constant__ float LEVELS[3][8] = {
    {0.4528f, 1.510f},
    {0.2451f, 0.7560f, 1.344f, 2.152f},
    {0.1284f, 0.3881f, 0.6568f, 0.9424f, 1.256f, 1.618f, 2.069f, 2.733f},
};

__device__ __forceinline__ float nearest_level(float x, u32 bits) {
    const float* levels = LEVELS[bits - 2];
    float size = fabsf(x);
    int last = (1 << (bits - 1)) - 1, i = 0;
    while (i < last && size > 0.5f * (levels[i] + levels[i + 1])) i++;
    return x < 0.0f ? -levels[i] : levels[i];
}

// A warp a stretch of 64 weights that share a scale.
extern "C" __global__ void round_weights(float* weights, T* shadow, u64 stretches, u32 bits) {
    u64 stretch = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (stretch >= stretches) return;
    u64 place = stretch * 64 + 2 * (threadIdx.x % 32);
    float2 w = *(float2*)(weights + place);
    float root = sqrtf(warp_sum(w.x * w.x + w.y * w.y) / 64.0f);
    float2 level = make_float2(0.0f, 0.0f);
    if (root > 0.0f) level = make_float2(nearest_level(w.x / root, bits), nearest_level(w.y / root, bits));
    float fit = warp_sum(level.x * w.x + level.y * w.y);
    float size = warp_sum(level.x * level.x + level.y * level.y);
    float scale = size > 0.0f ? fit / size : 0.0f;
    w = make_float2(scale * level.x, scale * level.y);
    *(float2*)(weights + place) = w;
#if HALF
    store1(shadow + place, w.x);
    store1(shadow + place + 1, w.y);
#endif
}
