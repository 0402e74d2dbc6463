// What all kernels share. NVRTC compiles it without any headers. -DFORMAT says what activations
// are: 0 is f32, 1 is bf16 and 2 is f16.
#define HALF (FORMAT > 0)
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;

#if HALF
struct __align__(2) T { u16 bits; };
#else
typedef float T;
#endif

#if FORMAT == 1
#define HALF_NAME "bf16"

// The two numbers of a word.
__device__ __forceinline__ float low16(u32 w) { return __uint_as_float(w << 16); }
__device__ __forceinline__ float high16(u32 w) { return __uint_as_float(w & 0xffff0000u); }
#elif FORMAT == 2
#define HALF_NAME "f16"

__device__ __forceinline__ float low16(u32 w) {
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"((u16)w));
    return v;
}

__device__ __forceinline__ float high16(u32 w) { return low16(w >> 16); }
#endif

#if HALF
// Two floats, rounded to the nearest even number, with the first one in the low half.
__device__ __forceinline__ u32 pack2(float low, float high) {
    u32 out;
    asm("cvt.rn." HALF_NAME "x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
}
#endif

__device__ __forceinline__ float load1(const float* p) { return *p; }
__device__ __forceinline__ void store1(float* p, float v) { *p = v; }

__device__ __forceinline__ void load8(const float* p, float v[8]) {
    float4 a = ((const float4*)p)[0], b = ((const float4*)p)[1];
    v[0] = a.x; v[1] = a.y; v[2] = a.z; v[3] = a.w;
    v[4] = b.x; v[5] = b.y; v[6] = b.z; v[7] = b.w;
}

__device__ __forceinline__ void store8(float* p, const float v[8]) {
    ((float4*)p)[0] = make_float4(v[0], v[1], v[2], v[3]);
    ((float4*)p)[1] = make_float4(v[4], v[5], v[6], v[7]);
}

#if HALF
__device__ __forceinline__ float load1(const T* p) { return low16(p->bits); }
__device__ __forceinline__ void store1(T* p, float v) { p->bits = (u16)pack2(v, 0.0f); }

__device__ __forceinline__ void load8(const T* p, float v[8]) {
    uint4 a = *(const uint4*)p;
    u32 w[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[2 * i] = low16(w[i]);
        v[2 * i + 1] = high16(w[i]);
    }
}

__device__ __forceinline__ void store8(T* p, const float v[8]) {
    *(uint4*)p = make_uint4(pack2(v[0], v[1]), pack2(v[2], v[3]), pack2(v[4], v[5]), pack2(v[6], v[7]));
}
#endif

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
    for (int i = 16; i > 0; i /= 2) v += __shfl_xor_sync(0xffffffffu, v, i);
    return v;
}

__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
    for (int i = 16; i > 0; i /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, i));
    return v;
}

// Dropout by counter, with the stream of random.rs, bit for bit. A rate of 0 means no dropout.
struct Drop {
    u64 key;
    float rate;
    float scale;
};

__device__ __forceinline__ float drop_factor(Drop d, u64 place) {
    u64 x = d.key + place * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
    float uniform = (float)(u32)(x >> 40) * (1.0f / 16777216.0f);
    return uniform < d.rate ? 0.0f : d.scale;
}

__device__ __forceinline__ void drop8(Drop d, u64 place, float v[8]) {
    if (d.rate > 0.0f) {
#pragma unroll
        for (int i = 0; i < 8; i++) v[i] *= drop_factor(d, place + i);
    }
}

#define INFINITE __int_as_float(0x7f800000)

// Shared memory whose size the launch gives.
extern __shared__ __align__(16) float shared[];
