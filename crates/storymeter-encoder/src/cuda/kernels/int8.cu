// The encoder in eight bits. Every operation does what the CPU does
// (kernel/{quantised,gemm,heads,softmax,steps,math}.rs), so that both give the same bytes. This is
// compiled without fused multiply-adds. Integers have the same sum in any order, and floats are
// added in the order of the CPU.
typedef unsigned char u8;
typedef signed char i8;

// PTX -----------------------------------------------------------------------------------------
// c += a * b: 16 rows of unsigned bytes times 8 columns of signed bytes, 32 deep.
__device__ __forceinline__ void mma_bytes(int c[4], const u32 a[4], u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Copies 16 bytes, or zeros, to shared memory without waiting.
__device__ __forceinline__ void copy16(u8* to, const void* from, bool there) {
    u32 address = (u32)__cvta_generic_to_shared(to), size = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(size));
}

__device__ __forceinline__ void copies_end() { asm volatile("cp.async.commit_group;"); }

// Waits for all copies except those of the last group.
__device__ __forceinline__ void copies_wait() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }
// ---------------------------------------------------------------------------------------------

#define MAGIC 12582912.0f

// The integer that is nearest to the small number v.
__device__ __forceinline__ int nearest(float v) { return __float_as_int(v + MAGIC) - __float_as_int(MAGIC); }

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }
__device__ __forceinline__ float smaller(float a, float b) { return a < b ? a : b; }

// The lanes of the warp that are in the same group of `size` lanes.
__device__ __forceinline__ u32 group_mask(u32 size) {
    return (size == 32 ? 0xffffffffu : (1u << size) - 1) << (threadIdx.x % 32 / size * size);
}

template <class Join>
__device__ __forceinline__ float join(float v, u32 size, u32 mask, Join both) {
    for (u32 i = size / 2; i > 0; i /= 2) v = both(v, __shfl_xor_sync(mask, v, i));
    return v;
}

// Rows as bytes between their own smallest and largest number: x = minimum + scale * q, with zeros
// up to the stride.
struct Rows {
    u8* q;
    float* scale;
    float* minimum;
    u32 stride;
};

// Writes the numbers of a row as bytes. Each of `lanes` lanes writes four at a time.
__device__ __forceinline__ void quantise(
    const float* x, u32 width, float low, float high, u8* q, u32 stride, u32 lane, u32 lanes, float* scale, float* minimum
) {
    float range = high - low, steps = range > 0.0f ? 255.0f / range : 0.0f;
    for (u32 i = lane * 4; i < stride; i += lanes * 4) {
        u32 word = 0;
        for (u32 e = 0; e < 4; e++)
            if (i + e < width) word |= (u32)(u8)nearest((x[i + e] - low) * steps) << (8 * e);
        *(u32*)(q + i) = word;
    }
    if (lane == 0) {
        *scale = range / 255.0f;
        *minimum = low;
    }
}

// One warp per row.
extern "C" __global__ void quantise_rows(const float* x, u32 rows, u32 width, Rows to) {
    u32 lane = threadIdx.x % 32;
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    x += row * width;
    float low = INFINITE, high = -INFINITE;
    for (u32 i = lane * 4; i < width; i += 128) {
        float4 v = *(const float4*)(x + i);
        low = smaller(smaller(smaller(smaller(low, v.x), v.y), v.z), v.w);
        high = larger(larger(larger(larger(high, v.x), v.y), v.z), v.w);
    }
    low = join(low, 32, 0xffffffffu, smaller);
    high = join(high, 32, 0xffffffffu, larger);
    quantise(x, width, low, high, to.q + row * to.stride, to.stride, lane, 32, to.scale + row, to.minimum + row);
}

// Sixteen lanes own a row, as on the CPU: lane l sums numbers l, l + 16, ..., then the lanes are
// joined, then the end of the row is added.
template <class Term>
__device__ __forceinline__ float sum_row(u32 width, u32 lane, u32 mask, Term term) {
    u32 whole = width / 16 * 16;
    float sum = 0.0f;
    for (u32 i = lane; i < whole; i += 16) sum = sum + term(i);
    sum = join(sum, 16, mask, [](float a, float b) { return a + b; });
    for (u32 i = whole; i < width; i++) sum = sum + term(i);
    return sum;
}

// Puts the row through layer norm, in place, and writes it as bytes.
__device__ __forceinline__ void norm_row(
    float* x, u32 width, const float* gain, const float* shift, float eps, u64 row, Rows to, u32 lane, u32 mask
) {
    __syncwarp(mask);
    float mean = sum_row(width, lane, mask, [=](u32 i) { return x[i]; }) / (float)width;
    float squares = sum_row(width, lane, mask, [=](u32 i) { return (x[i] - mean) * (x[i] - mean); });
    float scale = 1.0f / sqrtf(squares / (float)width + eps);
    float low = INFINITE, high = -INFINITE;
    __syncwarp(mask);
    for (u32 i = lane; i < width; i += 16) {
        float v = (x[i] - mean) * scale * gain[i] + shift[i];
        x[i] = v;
        low = smaller(low, v);
        high = larger(high, v);
    }
    low = join(low, 16, mask, smaller);
    high = join(high, 16, mask, larger);
    __syncwarp(mask);
    quantise(x, width, low, high, to.q + row * to.stride, to.stride, lane, 16, to.scale + row, to.minimum + row);
}

extern "C" __global__ void embed_bytes(
    const u32* ids, const u32* places, const i8* words, const float* word_scales, const float* positions,
    const float* gain, const float* shift, float eps, float* x, u32 rows, u32 width, Rows to
) {
    u32 lane = threadIdx.x % 16, mask = group_mask(16);
    u64 row = (u64)blockIdx.x * (blockDim.x / 16) + threadIdx.x / 16;
    if (row >= rows) return;
    x += row * width;
    u64 id = ids[row], place = places[row];
    float scale = word_scales[id];
    for (u32 i = lane; i < width; i += 16) x[i] = (float)words[id * width + i] * scale + positions[place * width + i];
    norm_row(x, width, gain, shift, eps, row, to, lane, mask);
}

extern "C" __global__ void add_norm_bytes(
    float* x, const float* added, const float* gain, const float* shift, float eps, u32 rows, u32 width, Rows to
) {
    u32 lane = threadIdx.x % 16, mask = group_mask(16);
    u64 row = (u64)blockIdx.x * (blockDim.x / 16) + threadIdx.x / 16;
    if (row >= rows) return;
    x += row * width;
    for (u32 i = lane; i < width; i += 16) x[i] = x[i] + added[row * width + i];
    norm_row(x, width, gain, shift, eps, row, to, lane, mask);
}

// e^x, as math::exp computes it.
__device__ __forceinline__ float exponential(float x) {
    x = x > 88.0f ? 88.0f : x;
    x = x < -87.0f ? -87.0f : x;
    float shifted = x * 1.44269504f + MAGIC, n = shifted - MAGIC;
    float r = (x - n * 0.6933594f) + n * 2.1219444e-4f;
    float p = r * (0.04166664f + r * (0.008333222f + r * 0.0013930436f));
    p = 1.0f + r * (1.0f + r * (0.5f + r * (0.16666667f + p)));
    int power = __float_as_int(shifted) - __float_as_int(MAGIC) + 127;
    return p * __int_as_float(power << 23);
}

__device__ __forceinline__ float hyperbolic_tangent(float x) {
    float series = x * (1.0f - x * x * (1.0f / 3.0f - x * x * (2.0f / 15.0f - x * x * (17.0f / 315.0f))));
    float other = 1.0f - 2.0f / (exponential(2.0f * x) + 1.0f);
    return fabsf(x) < 0.2f ? series : other;
}

// As math::normal_tails computes it.
__device__ __forceinline__ float normal_tails(float z) {
    float p = -0.052948564f + z * (0.0076707834f + z * (-5.7578616e-4f + z * (-1.2798212e-5f + z * 4.2787433e-6f)));
    float t = z * (-1.151127f + z * (-0.45904392f + z * p));
    float shifted = t + MAGIC, r = t - (shifted - MAGIC);
    p = r * (0.05550713f + r * (0.009675542f + r * 0.0013276472f));
    p = 1.0000001f + r * (0.69314694f + r * (0.2402212f + p));
    return __int_as_float(__float_as_int(p) + (int)((u32)__float_as_int(shifted) << 23));
}

#define GELU_ERF 0
#define GELU_TANH 1
#define RELU 2

__device__ __forceinline__ float activated(float x, u32 kind) {
    if (kind == GELU_ERF) {
        float z = fabsf(x) > 6.0f ? 6.0f : fabsf(x);
        return (x > 0.0f ? x : 0.0f) - 0.5f * z * normal_tails(z);
    }
    if (kind == GELU_TANH) return 0.5f * x * (1.0f + hyperbolic_tangent(0.7978846f * (x + 0.044715f * x * x * x)));
    if (kind == RELU) return x > 0.0f ? x : 0.0f;
    return x;
}

// The number that the integer product of a quantised row and a quantised column stands for.
__device__ __forceinline__ float worth(int sum, float scale, float minimum, float step, float offset, float bias) {
    return (float)sum * (scale * step) + (minimum * offset + bias);
}

// The weights of a linear map: rows of bytes, each with a scale, as long as the stride of what is
// multiplied with them.
struct Columns {
    const i8* q;
    const float* scale;
    const float* offset;
    const float* bias;
};

// The bytes of a row of a tile in shared memory: 64, and some that keep rows apart in its banks.
#define PITCH 80

// out = activated(rows * columns^T + bias): 128 x 128 numbers per block, 64 x 32 per warp.
extern "C" __global__ void __launch_bounds__(256, 2) product_bytes(
    Rows a, u32 rows, Columns b, u32 outputs, u32 kind, float* out
) {
    __shared__ __align__(16) u8 tiles[2][2][128][PITCH];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, row0 = blockIdx.y * 128, col0 = blockIdx.x * 128;
    u32 warp_row = warp / 4 * 64, warp_col = warp % 4 * 32, depth = a.stride / 64;
    auto load = [&](u32 step) {
        for (u32 i = threadIdx.x; i < 512; i += 256) {
            u32 r = i / 4, part = i % 4 * 16;
            u32 row = row0 + r, col = col0 + r;
            u64 at = (u64)step * 64 + part;
            copy16(&tiles[step % 2][0][r][part], a.q + (u64)(row < rows ? row : 0) * a.stride + at, row < rows);
            copy16(&tiles[step % 2][1][r][part], b.q + (u64)(col < outputs ? col : 0) * a.stride + at, col < outputs);
        }
    };
    int c[4][4][4] = {};
    load(0);
    copies_end();
    for (u32 step = 0; step < depth; step++) {
        if (step + 1 < depth) load(step + 1);
        copies_end();
        copies_wait();
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < 64; k += 32) {
            u32 at = k + lane % 4 * 4, left[4][4], right[4][2];
#pragma unroll
            for (u32 m = 0; m < 4; m++) {
                const u8 (*rows)[PITCH] = &tiles[step % 2][0][warp_row + m * 16 + lane / 4];
                left[m][0] = *(const u32*)&rows[0][at];
                left[m][1] = *(const u32*)&rows[8][at];
                left[m][2] = *(const u32*)&rows[0][at + 16];
                left[m][3] = *(const u32*)&rows[8][at + 16];
            }
#pragma unroll
            for (u32 n = 0; n < 4; n++) {
                const u8* column = tiles[step % 2][1][warp_col + n * 8 + lane / 4];
                right[n][0] = *(const u32*)(column + at);
                right[n][1] = *(const u32*)(column + at + 16);
            }
#pragma unroll
            for (u32 m = 0; m < 4; m++)
#pragma unroll
                for (u32 n = 0; n < 4; n++) mma_bytes(c[m][n], left[m], right[n][0], right[n][1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 m = 0; m < 4; m++) {
#pragma unroll
        for (u32 h = 0; h < 2; h++) {
            u32 row = row0 + warp_row + m * 16 + lane / 4 + h * 8;
            if (row >= rows) continue;
            float scale = a.scale[row], minimum = a.minimum[row];
#pragma unroll
            for (u32 n = 0; n < 4; n++) {
                u32 col = col0 + warp_col + n * 8 + lane % 4 * 2;
                if (col >= outputs) continue;
                float v[2];
#pragma unroll
                for (u32 e = 0; e < 2; e++) {
                    u32 j = col + e;
                    v[e] = worth(c[m][n][2 * h + e], scale, minimum, b.scale[j], b.offset[j], b.bias[j]);
                    v[e] = activated(v[e], kind);
                }
                *(float2*)(out + (u64)row * outputs + col) = make_float2(v[0], v[1]);
            }
        }
    }
}

// A tile is at most 64 rows of one story.
struct Tile {
    u32 first, begin, end, story;
};

// The heads of all stories as bytes, with `padded` columns each (32, 64, 96 or 128), which are zero
// beyond `width`.
struct Heads {
    // By row and head.
    u8* queries;
    i8* keys;
    float* query_scale;
    float* query_minimum;
    float* key_scale;
    float* key_offset;
    // By slot of the story, head, channel and token. Each sixteen tokens are in the order in which
    // `attend` needs them.
    i8* values;
    // By story, head and channel.
    float* value_scale;
    u32 heads, width, padded;
};

// Where the values of a story begin, in tokens: slots of whole 32 tokens that do not overlap.
__device__ __forceinline__ u64 slot(u32 begin, u32 story) { return ((u64)begin + 32 * (u64)story) / 32 * 32; }

// Queries and keys: eight lanes per row and head.
extern "C" __global__ void quantise_heads(const float* qkv, u32 rows, Heads h) {
    u32 lane = threadIdx.x % 8, mask = group_mask(8);
    u64 item = (u64)blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8;
    if (item >= (u64)rows * h.heads) return;
    u64 hidden = (u64)h.heads * h.width;
    const float* query = qkv + item / h.heads * 3 * hidden + item % h.heads * h.width;
    const float* key = query + hidden;
    float low = INFINITE, high = -INFINITE, largest = 0.0f;
    for (u32 i = lane; i < h.width; i += 8) {
        low = smaller(low, query[i]);
        high = larger(high, query[i]);
        largest = larger(largest, fabsf(key[i]));
    }
    low = join(low, 8, mask, smaller);
    high = join(high, 8, mask, larger);
    largest = join(largest, 8, mask, larger);
    u8* bytes = h.queries + item * h.padded;
    quantise(query, h.width, low, high, bytes, h.padded, lane, 8, h.query_scale + item, h.query_minimum + item);
    float steps = largest > 0.0f ? 127.0f / largest : 0.0f, scale = largest / 127.0f;
    int sum = 0;
    for (u32 i = lane * 4; i < h.padded; i += 32) {
        u32 word = 0;
        for (u32 e = 0; e < 4; e++) {
            int q = i + e < h.width ? nearest(key[i + e] * steps) : 0;
            sum += q;
            word |= (u32)(u8)q << (8 * e);
        }
        *(u32*)(h.keys + item * h.padded + i) = word;
    }
    for (u32 i = 4; i > 0; i /= 2) sum += __shfl_xor_sync(mask, sum, i);
    if (lane == 0) {
        h.key_scale[item] = scale;
        h.key_offset[item] = scale * (float)sum;
    }
}

// Values, with one scale per channel of the head of a story: one block per story and head, one
// thread per channel.
extern "C" __global__ void quantise_values(const float* qkv, const u32* bounds, Heads h) {
    __shared__ float sizes[128];
    u32 story = blockIdx.x, head = blockIdx.y, begin = bounds[story], len = bounds[story + 1] - begin;
    u32 groups = 128 / h.padded, c = threadIdx.x % h.padded, group = threadIdx.x / h.padded;
    u64 hidden = (u64)h.heads * h.width;
    const float* value = qkv + (u64)begin * 3 * hidden + 2 * hidden + head * h.width + c;
    bool there = c < h.width;
    float largest = 0.0f;
    if (there && group < groups)
        for (u32 i = group; i < len; i += groups) largest = larger(largest, fabsf(value[i * 3 * hidden]));
    sizes[threadIdx.x] = largest;
    __syncthreads();
    if (group >= groups) return;
    for (u32 g = 0; g < groups; g++) largest = larger(largest, sizes[g * h.padded + c]);
    float steps = largest > 0.0f ? 127.0f / largest : 0.0f;
    u64 channel = (u64)head * h.padded + c;
    if (group == 0) h.value_scale[(u64)story * h.heads * h.padded + channel] = largest / 127.0f;
    u32 room = (len + 31) / 32 * 32;
    i8* to = h.values + slot(begin, story) * h.heads * h.padded + channel * room;
    for (u32 i = group * 4; i < room; i += groups * 4) {
        u32 word = 0;
        for (u32 e = 0; e < 4; e++) {
            u32 token = i / 16 * 16 + e / 2 * 8 + i % 16 / 2 + e % 2;
            if (there && token < len) word |= (u32)(u8)nearest(value[token * 3 * hidden] * steps) << (8 * e);
        }
        *(u32*)(to + i) = word;
    }
}

// 65,280 times 2^t for t of at most 0, as math::power_of_two_65280 computes it.
__device__ __forceinline__ float power_of_two_65280(float t) {
    t = t < -18.0f ? -18.0f : t;
    float shifted = t + MAGIC, r = t - (shifted - MAGIC);
    float p = 65275.305f + r * (45256.08f + r * (15837.655f + r * 3601.6067f));
    return __int_as_float(__float_as_int(p) + (int)((u32)__float_as_int(shifted) << 23));
}

// Attention of 64 queries of one head, sixteen per warp. The scores are computed twice: for their
// largest, and then for the probabilities, which have two bytes each. Nothing is kept in between. W
// is the number of groups of 32 columns of a head.
template <int W>
__device__ __forceinline__ void attend(
    Heads h, const Tile* tiles, const float* table, u32 longest, float score_scale, float* out
) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, head = blockIdx.y;
    Tile tile = tiles[blockIdx.x];
    u32 first = tile.first + warp * 16, begin = tile.begin, end = tile.end;
    if (first >= end) return;
    u32 row[2] = {first + lane / 4, first + lane / 4 + 8}, word = lane % 4 * 4;
    u32 query[W][4];
    float scale[2], minimum[2], top[2];
    const float* bias = table ? table + (u64)head * (2 * longest - 1) + longest - 1 : 0;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        // Rows beyond the end stand for the last one and are not written.
        u64 item = (u64)(row[r] < end ? row[r] : end - 1) * h.heads + head;
        scale[r] = h.query_scale[item];
        minimum[r] = h.query_minimum[item];
        top[r] = -INFINITE;
#pragma unroll
        for (int k = 0; k < W; k++) {
            const u8* bytes = h.queries + item * 32 * W + k * 32 + word;
            query[k][r] = *(const u32*)bytes;
            query[k][r + 2] = *(const u32*)(bytes + 16);
        }
    }
    // The scores of eight keys in units of log 2. Number e belongs to row e / 2 and key start +
    // lane % 4 * 2 + e % 2.
    auto scores = [&](u32 start, float s[4]) {
        int c[4] = {};
        u64 key = start + lane / 4 < end ? start + lane / 4 : end - 1;
        const i8* bytes = h.keys + (key * h.heads + head) * 32 * W + word;
#pragma unroll
        for (int k = 0; k < W; k++) mma_bytes(c, query[k], *(const u32*)(bytes + k * 32), *(const u32*)(bytes + k * 32 + 16));
#pragma unroll
        for (int e = 0; e < 4; e++) {
            u32 j = start + lane % 4 * 2 + e % 2, r = e / 2;
            if (j >= end) {
                s[e] = -INFINITE;
                continue;
            }
            u64 item = (u64)j * h.heads + head;
            s[e] = worth(c[e], scale[r], minimum[r], h.key_scale[item], h.key_offset[item], 0.0f) * score_scale;
            if (bias) s[e] = s[e] + bias[(int)j - (int)(row[r] < end ? row[r] : end - 1)] * 1.44269504f;
        }
    };
    for (u32 start = begin; start < end; start += 8) {
        float s[4];
        scores(start, s);
#pragma unroll
        for (int e = 0; e < 4; e++) top[e / 2] = larger(top[e / 2], s[e]);
    }
#pragma unroll
    for (int r = 0; r < 2; r++) top[r] = join(top[r], 4, group_mask(4), larger);
    int high[W * 4][4] = {}, low[W * 4][4] = {}, sum[2] = {0, 0};
    u32 room = (end - begin + 31) / 32 * 32;
    const i8* values = h.values + slot(begin, tile.story) * h.heads * h.padded + (u64)head * h.padded * room;
    for (u32 start = begin; start < end; start += 32) {
        u32 above[4] = {}, below[4] = {};
#pragma unroll
        for (int n = 0; n < 4; n++) {
            float s[4];
            scores(start + n * 8, s);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                u32 q = (u32)nearest(power_of_two_65280(s[e] - top[e / 2])), at = 8 * (n % 2 * 2 + e % 2);
                sum[e / 2] += q;
                above[n / 2 * 2 + e / 2] |= (q >> 8) << at;
                below[n / 2 * 2 + e / 2] |= (q & 0xff) << at;
            }
        }
#pragma unroll
        for (int n = 0; n < W * 4; n++) {
            const i8* at = values + (u64)(n * 8 + lane / 4) * room + (start - begin) + word;
            u32 b0 = *(const u32*)at, b1 = *(const u32*)(at + 16);
            mma_bytes(high[n], above, b0, b1);
            mma_bytes(low[n], below, b0, b1);
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        for (u32 i = 2; i > 0; i /= 2) sum[r] += __shfl_xor_sync(group_mask(4), sum[r], i);
        float inverse_high = 256.0f / (float)sum[r], inverse_low = 1.0f / (float)sum[r];
        if (row[r] >= end) continue;
        const float* steps = h.value_scale + ((u64)tile.story * h.heads + head) * h.padded;
        float* to = out + ((u64)row[r] * h.heads + head) * h.width;
#pragma unroll
        for (int n = 0; n < W * 4; n++) {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                u32 c = n * 8 + lane % 4 * 2 + e;
                if (c >= h.width) continue;
                to[c] = (float)high[n][2 * r + e] * (inverse_high * steps[c]) + (float)low[n][2 * r + e] * (inverse_low * steps[c]);
            }
        }
    }
}

#define ATTEND(W)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(128) attend_##W(                                                    \
        Heads h, const Tile* tiles, const float* table, u32 longest, float score_scale, float* out                   \
    ) {                                                                                                              \
        attend<W>(h, tiles, table, longest, score_scale, out);                                                       \
    }
ATTEND(1)
ATTEND(2)
ATTEND(3)
ATTEND(4)
