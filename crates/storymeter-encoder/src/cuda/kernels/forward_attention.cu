// Attention for inference: full or causal, with a head of keys for several of queries, keys of
// other rows than the queries' own, and a relative position bias. In sixteen bits it runs on tensor
// cores, and in f32 (and for heads whose width is no multiple of 8) in tiles of floats.

// At most 64 queries of a sequence, which begins at row `begin`, and the rows of the keys that they
// may look at.
struct Span {
    u32 first, end, begin, key_begin, key_end;
};

struct Heads {
    const T* queries;
    const T* keys;
    const T* values;
    T* out;
    // From one row to the next.
    u32 query_stride, key_stride, out_stride;
    // How many heads of queries share one of keys.
    u32 group;
    u32 width, causal;
    float scale;
    // One bias per head and distance, for distances below `longest`; null if there is none.
    const float* table;
    u32 longest;
};

// Where the keys end for the queries of a span.
__device__ __forceinline__ u32 last_key(const Heads& h, const Span& s) {
    u32 seen = s.key_begin + min(s.first + 64, s.end) - s.begin;
    return h.causal ? min(s.key_end, seen) : s.key_end;
}

// The score of a key for a query, of which `product` is the product: minus infinity if the query
// may not look at it.
__device__ __forceinline__ float score(
    const Heads& h, const Span& s, const float* bias, float product, u32 row, u32 key, u32 last
) {
    int distance = (int)(key - s.key_begin) - (int)(row - s.begin);
    if (key >= last || (h.causal && distance > 0)) return -INFINITE;
    float z = product * h.scale;
    return bias && row < s.end ? z + bias[distance] : z;
}

__device__ __forceinline__ const float* bias_of(const Heads& h, u32 head) {
    return h.table ? h.table + (u64)head * (2 * h.longest - 1) + h.longest - 1 : 0;
}

// Copies up to 64 rows from `first` on to shared memory as floats, with zeros from `end` and from
// column `width` on.
template <int D>
__device__ __forceinline__ void load_floats(float* to, const T* x, u64 stride, u32 first, u32 end, u32 width) {
    for (u32 i = threadIdx.x; i < 64 * D / 8; i += 256) {
        u32 row = i / (D / 8), col = i % (D / 8) * 8;
        float v[8] = {};
        if (first + row < end) {
            const T* from = x + (first + row) * stride + col;
            if (width % 8 == 0) {
                if (col < width) load8(from, v);
            } else {
#pragma unroll
                for (int k = 0; k < 8; k++)
                    if (col + k < width) v[k] = load1(from + k);
            }
        }
        store8(to + row * (D + 4) + col, v);
    }
}

// 16 x 16 threads, each with 4 x 4 scores and four rows of the result.
template <int D>
__device__ __forceinline__ void attend_floats(const Heads& h, const Span* spans) {
    const u32 pitch = D + 4, run = D < 64 ? 2 : 4;
    float* queries = shared;
    float* others = queries + 64 * pitch;
    float* weights = others + 64 * pitch;
    u32 tx = threadIdx.x % 16, ty = threadIdx.x / 16, head = blockIdx.y;
    Span s = spans[blockIdx.x];
    const T* keys = h.keys + head / h.group * h.width;
    const T* values = h.values + head / h.group * h.width;
    const float* bias = bias_of(h, head);
    load_floats<D>(queries, h.queries + head * h.width, h.query_stride, s.first, s.end, h.width);
    float o[4][D / 16] = {}, top[4], total[4] = {};
#pragma unroll
    for (int i = 0; i < 4; i++) top[i] = -INFINITE;
    u32 last = last_key(h, s);
    for (u32 start = s.key_begin; start < last; start += 64) {
        __syncthreads();
        load_floats<D>(others, keys, h.key_stride, start, last, h.width);
        __syncthreads();
        float p[4][4] = {};
#pragma unroll 4
        for (u32 d = 0; d < D; d += 4) {
            float4 a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                a[i] = *(const float4*)(queries + (ty + 16 * i) * pitch + d);
                b[i] = *(const float4*)(others + (tx + 16 * i) * pitch + d);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    p[i][j] += a[i].x * b[j].x + a[i].y * b[j].y + a[i].z * b[j].z + a[i].w * b[j].w;
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float best = top[i];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                p[i][j] = score(h, s, bias, p[i][j], s.first + ty + 16 * i, start + tx + 16 * j, last);
                best = fmaxf(best, p[i][j]);
            }
#pragma unroll
            for (int lane = 8; lane > 0; lane /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, lane));
            float factor = expf(top[i] - best);
            top[i] = best;
            total[i] *= factor;
#pragma unroll
            for (int c = 0; c < D / 16; c++) o[i][c] *= factor;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float z = expf(p[i][j] - best);
                total[i] += z;
                weights[(ty + 16 * i) * 68 + tx + 16 * j] = z;
            }
        }
        __syncthreads();
        load_floats<D>(others, values, h.key_stride, start, last, h.width);
        __syncthreads();
#pragma unroll 2
        for (u32 j = 0; j < 64; j += 4) {
            float4 w[4];
#pragma unroll
            for (int i = 0; i < 4; i++) w[i] = *(const float4*)(weights + (ty + 16 * i) * 68 + j);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float v[D / 16];
                const float* row = others + (j + k) * pitch + tx * run;
#pragma unroll
                for (int c = 0; c < D / 16; c += run) {
                    if (run == 2) {
                        float2 two = *(const float2*)(row + c * 16);
                        v[c] = two.x, v[c + 1] = two.y;
                    } else {
                        float4 four = *(const float4*)(row + c * 16);
                        v[c] = four.x, v[c + 1] = four.y, v[c + 2] = four.z, v[c + 3] = four.w;
                    }
                }
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float weight = k == 0 ? w[i].x : k == 1 ? w[i].y : k == 2 ? w[i].z : w[i].w;
#pragma unroll
                    for (int c = 0; c < D / 16; c++) o[i][c] += weight * v[c];
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int lane = 8; lane > 0; lane /= 2) total[i] += __shfl_xor_sync(0xffffffffu, total[i], lane);
        u32 row = s.first + ty + 16 * i;
        if (row >= s.end) continue;
        float inverse = total[i] > 0.0f ? 1.0f / total[i] : 0.0f;
        T* to = h.out + (u64)row * h.out_stride + head * h.width;
#pragma unroll
        for (int c = 0; c < D / 16; c++) {
            u32 col = tx * run + c / run * run * 16 + c % run;
            if (col < h.width) store1(to + col, o[i][c] * inverse);
        }
    }
}

#define FLOAT_KERNEL(D)                                                                                              \
    extern "C" __global__ void __launch_bounds__(256) attend_floats_##D(Heads h, const Span* spans) {                \
        attend_floats<D>(h, spans);                                                                                  \
    }
FLOAT_KERNEL(32)
FLOAT_KERNEL(64)
FLOAT_KERNEL(128)

#if HALF
// Four warps, each with 16 queries.
template <int D>
__device__ __forceinline__ void attend_tile(const Heads& h, const Span* spans) {
    __shared__ __align__(16) T keys[64][D + PAD], values[64][D + PAD];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, head = blockIdx.y;
    Span s = spans[blockIdx.x];
    const T* key_rows = h.keys + head / h.group * h.width;
    const T* value_rows = h.values + head / h.group * h.width;
    const float* bias = bias_of(h, head);
    u32 first = s.first + warp * 16, r0 = first + lane / 4;
    bool active = first < s.end;
    u32 q[D / 16][4];
    load_left<D>(q, h.queries + head * h.width, h.query_stride, first, s.end, lane, h.width);
    float o[D / 8][4] = {}, top[2] = {-INFINITE, -INFINITE}, total[2] = {0.0f, 0.0f};
    u32 last = last_key(h, s);
    for (u32 start = s.key_begin; start < last; start += 64) {
        __syncthreads();
        load_tile<D>(keys, key_rows, h.key_stride, start, last, h.width);
        load_tile<D>(values, value_rows, h.key_stride, start, last, h.width);
        __syncthreads();
        if (!active) continue;
        u32 parts = (min(last - start, 64u) + 7) / 8;
        float p[8][4] = {}, best[2] = {top[0], top[1]};
        outer<D>(p, q, keys, parts, lane);
#pragma unroll
        for (int n = 0; n < 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                u32 key = start + n * 8 + lane % 4 * 2 + e % 2;
                p[n][e] = score(h, s, bias, p[n][e], r0 + e / 2 * 8, key, last);
                best[e / 2] = fmaxf(best[e / 2], p[n][e]);
            }
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            best[i] = fmaxf(best[i], __shfl_xor_sync(0xffffffffu, best[i], 1));
            best[i] = fmaxf(best[i], __shfl_xor_sync(0xffffffffu, best[i], 2));
            float factor = __expf(top[i] - best[i]);
            top[i] = best[i];
            total[i] *= factor;
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
                o[n][2 * i] *= factor;
                o[n][2 * i + 1] *= factor;
            }
        }
#pragma unroll
        for (int n = 0; n < 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                p[n][e] = __expf(p[n][e] - top[e / 2]);
                total[e / 2] += p[n][e];
            }
        }
        mix<D>(o, p, values, parts, lane);
    }
    if (!active) return;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        total[i] += __shfl_xor_sync(0xffffffffu, total[i], 1);
        total[i] += __shfl_xor_sync(0xffffffffu, total[i], 2);
        float inverse = total[i] > 0.0f ? 1.0f / total[i] : 0.0f;
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
            o[n][2 * i] *= inverse;
            o[n][2 * i + 1] *= inverse;
        }
    }
    store_rows<D>(h.out + head * h.width, h.out_stride, first, s.end, o, 1.0f, lane, h.width);
}

#define MMA_KERNEL(D)                                                                                                \
    extern "C" __global__ void __launch_bounds__(128) attend_mma_##D(Heads h, const Span* spans) {                   \
        attend_tile<D>(h, spans);                                                                                    \
    }
MMA_KERNEL(32)
MMA_KERNEL(64)
MMA_KERNEL(128)
#endif
