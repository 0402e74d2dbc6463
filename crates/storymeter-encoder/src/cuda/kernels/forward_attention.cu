// Attention for inference on tensor cores: full or causal, with a head of keys for several of
// queries, keys of other rows than the queries' own, and a relative position bias. Online softmax,
// and four warps of 16 queries per block. D is the number of columns of a head in registers and
// shared memory; columns from `width` on are zeros there.

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

#if HALF
#define EXP __expf

// The queries of a warp as the left side of products.
template <int D>
struct Left {
    u32 a[D / 16][4];
};

// Two numbers of a row, with zeros from `width` on.
__device__ __forceinline__ u32 two_of(const T* row, u32 col, u32 width) {
    u32 low = col < width ? row[col].bits : 0, high = col + 1 < width ? row[col + 1].bits : 0;
    return low | high << 16;
}

template <int D>
__device__ __forceinline__ void load_queries(Left<D>& q, const T* x, u64 stride, u32 first, u32 end, u32 lane, u32 width) {
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            u32 row = first + lane / 4 + e % 2 * 8, col = k * 16 + lane % 4 * 2 + e / 2 * 8;
            q.a[k][e] = row < end ? two_of(x + row * stride, col, width) : 0;
        }
    }
}

template <int D>
__device__ __forceinline__ void scores_of(float p[8][4], const Left<D>& q, const T (*keys)[D + PAD], u32 parts, u32 lane) {
    outer<D>(p, q.a, keys, parts, lane);
}
#else
#define EXP expf
#define PAD 4

// A product of 16 x 8 with 8 x 8 numbers in TF32.
__device__ __forceinline__ void mma(float c[4], const u32 a[4], u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The left side of a product of floats, as the sums of a high and a low part (`split_rows`).
struct Split {
    u32 high[4], low[4];
};

__device__ __forceinline__ Split split(float v0, float v1, float v2, float v3) {
    float v[4] = {v0, v1, v2, v3};
    Split s;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float high = eleven_bits(v[i]);
        s.high[i] = __float_as_uint(high);
        s.low[i] = __float_as_uint(v[i] - high);
    }
    return s;
}

__device__ __forceinline__ void mma(float c[4], const Split& a, float b0, float b1) {
    float high0 = eleven_bits(b0), high1 = eleven_bits(b1);
    u32 h0 = __float_as_uint(high0), h1 = __float_as_uint(high1);
    mma(c, a.low, h0, h1);
    mma(c, a.high, __float_as_uint(b0 - high0), __float_as_uint(b1 - high1));
    mma(c, a.high, h0, h1);
}

template <int D>
struct Left {
    float a[D / 8][4];
};

template <int D>
__device__ __forceinline__ void load_queries(Left<D>& q, const T* x, u64 stride, u32 first, u32 end, u32 lane, u32 width) {
#pragma unroll
    for (int k = 0; k < D / 8; k++) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            u32 row = first + lane / 4 + e % 2 * 8, col = k * 8 + lane % 4 + e / 2 * 4;
            q.a[k][e] = row < end && col < width ? x[row * stride + col] : 0.0f;
        }
    }
}

template <int D>
__device__ __forceinline__ void scores_of(float p[8][4], const Left<D>& q, const T (*keys)[D + PAD], u32 parts, u32 lane) {
#pragma unroll
    for (int k = 0; k < D / 8; k++) {
        Split a = split(q.a[k][0], q.a[k][1], q.a[k][2], q.a[k][3]);
#pragma unroll
        for (int n = 0; n < 8; n++) {
            const T* at = &keys[n * 8 + lane / 4][k * 8 + lane % 4];
            if (n < parts) mma(p[n], a, at[0], at[4]);
        }
    }
}

// out += p * b, where p is 16 x 64 as `scores_of` gives it. A sum over keys may have any order, and
// so column i of the left side of a product is key 2 i, and column i + 4 is key 2 i + 1: these are
// the numbers that a thread has.
template <int D>
__device__ __forceinline__ void mix(float out[D / 8][4], const float p[8][4], const T (*b)[D + PAD], u32 parts, u32 lane) {
#pragma unroll
    for (int k = 0; k < 8; k++) {
        if (k < parts) {
            Split a = split(p[k][0], p[k][2], p[k][1], p[k][3]);
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
                const T* at = &b[k * 8 + lane % 4 * 2][n * 8 + lane / 4];
                mma(out[n], a, at[0], at[D + PAD]);
            }
        }
    }
}
#endif

// Eight numbers of a row.
struct __align__(16) Eight {
    T v[8];
};

// Copies up to 64 rows from `first` on to shared memory, with zeros from `end` and from column
// `width` on. Only rows of a multiple of 8 numbers can be read eight at a time.
template <int D>
__device__ __forceinline__ void load_rows(T (*to)[D + PAD], const T* x, u64 stride, u32 first, u32 end, u32 width) {
    for (u32 i = threadIdx.x; i < 64 * D / 8; i += 128) {
        u32 row = i / (D / 8), col = i % (D / 8) * 8;
        const T* from = x + (first + row) * stride + col;
        Eight eight = {};
        if (first + row < end) {
            if (width % 8 == 0) {
                if (col < width) eight = *(const Eight*)from;
            } else {
#pragma unroll
                for (int k = 0; k < 8; k++)
                    if (col + k < width) eight.v[k] = from[k];
            }
        }
        *(Eight*)&to[row][col] = eight;
    }
}

template <int D>
__device__ __forceinline__ void attend(const Heads& h, const Span* spans) {
    T (*keys)[D + PAD] = (T (*)[D + PAD])shared;
    T (*values)[D + PAD] = keys + 64;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, head = blockIdx.y;
    Span s = spans[blockIdx.x];
    const T* key_rows = h.keys + head / h.group * h.width;
    const T* value_rows = h.values + head / h.group * h.width;
    const float* bias = bias_of(h, head);
    u32 first = s.first + warp * 16, r0 = first + lane / 4;
    bool active = first < s.end;
    Left<D> q;
    load_queries<D>(q, h.queries + head * h.width, h.query_stride, first, s.end, lane, h.width);
    float o[D / 8][4] = {}, top[2] = {-INFINITE, -INFINITE}, total[2] = {0.0f, 0.0f};
    u32 last = last_key(h, s);
    for (u32 start = s.key_begin; start < last; start += 64) {
        __syncthreads();
        load_rows<D>(keys, key_rows, h.key_stride, start, last, h.width);
        load_rows<D>(values, value_rows, h.key_stride, start, last, h.width);
        __syncthreads();
        if (!active) continue;
        u32 parts = (min(last - start, 64u) + 7) / 8;
        float p[8][4] = {}, best[2] = {top[0], top[1]};
        scores_of<D>(p, q, keys, parts, lane);
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
            float factor = EXP(top[i] - best[i]);
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
                p[n][e] = EXP(p[n][e] - top[e / 2]);
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
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            u32 row = r0 + e / 2 * 8, col = n * 8 + lane % 4 * 2 + e % 2;
            T* to = h.out + (u64)row * h.out_stride + head * h.width + col;
            if (row < s.end && col < h.width) store1(to, o[n][e]);
        }
    }
}

#define ATTEND(D)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(128) attend_##D(Heads h, const Span* spans) {                       \
        attend<D>(h, spans);                                                                                         \
    }
ATTEND(32)
ATTEND(64)
ATTEND(128)
