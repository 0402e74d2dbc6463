// Attention within each story, for any head width: one warp per row, with the scores of the story
// in shared memory. This is the plain version for f32 and unusual head widths; attention_mma.cu has
// the fast one.
//
// Queries, keys and values are the thirds of rows of 3 * width numbers. A tile is at most 64 rows
// of one story.

struct Tile {
    u32 first, begin, end, story;
};

// `room` is the length of the longest story of the batch. With `causal`, a token attends only to
// itself and to the tokens before it.
struct Shape {
    u32 heads, width, head_width, longest;
    float scale;
    u32 causal, room;
    Drop drop;
};

// The place, in the dropout stream, of the first attention probability of the query of row `row`.
__device__ __forceinline__ u64 drop_place(const Shape& s, u64 row, u32 head) {
    return (row * s.heads + head) * s.longest;
}

__device__ __forceinline__ float dot(const T* a, const T* b, u32 n) {
    float sum = 0.0f;
    for (u32 i = 0; i < n; i++) sum += load1(a + i) * load1(b + i);
    return sum;
}

extern "C" __global__ void attention(
    const T* qkv, const Tile* tiles, const float* table, Shape s, T* out, float* lse
) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, head = blockIdx.y;
    Tile tile = tiles[blockIdx.x];
    float* p = shared + warp * 2 * s.room;
    const T* base = qkv + head * s.head_width;
    u64 stride = 3 * (u64)s.width;
    for (u32 row = tile.first + warp; row < min(tile.first + 64, tile.end); row += 4) {
        float top = -INFINITE, total = 0.0f;
        u32 end = s.causal ? row + 1 : tile.end;
        for (u32 j = tile.begin + lane; j < end; j += 32) {
            float z = dot(base + row * stride, base + j * stride + s.width, s.head_width) * s.scale;
            if (table) z += table[head * (2 * s.longest - 1) + j + s.longest - 1 - row];
            p[j - tile.begin] = z;
            top = fmaxf(top, z);
        }
        top = warp_max(top);
        for (u32 j = lane; j < end - tile.begin; j += 32) {
            p[j] = expf(p[j] - top);
            total += p[j];
        }
        total = warp_sum(total);
        for (u32 j = lane; j < end - tile.begin; j += 32) {
            p[j] /= total;
            if (s.drop.rate > 0.0f) p[j] *= drop_factor(s.drop, drop_place(s, row, head) + j);
        }
        __syncwarp();
        for (u32 d = lane; d < s.head_width; d += 32) {
            float sum = 0.0f;
            for (u32 j = tile.begin; j < end; j++)
                sum += p[j - tile.begin] * load1(base + j * stride + 2 * s.width + d);
            store1(out + (u64)row * s.width + head * s.head_width + d, sum);
        }
        if (lane == 0) lse[(u64)row * s.heads + head] = top + logf(total);
        __syncwarp();
    }
}

// delta[row][head] is the sum of out * d_out over the columns of the head.
extern "C" __global__ void attention_delta(const T* out, const T* d_out, u32 rows, Shape s, float* delta) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u64)rows * s.heads) return;
    u64 at = i / s.heads * s.width + i % s.heads * s.head_width;
    float sum = 0.0f;
    if (s.head_width % 8 == 0) {
        for (u32 d = 0; d < s.head_width; d += 8) {
            float a[8], b[8];
            load8(out + at + d, a);
            load8(d_out + at + d, b);
#pragma unroll
            for (int k = 0; k < 8; k++) sum += a[k] * b[k];
        }
    } else {
        sum = dot(out + at, d_out + at, s.head_width);
    }
    delta[i] = sum;
}

// The gradients of the queries of a tile, and the sums of the gradients of its scores by bucket
// (partial[tile][head]).
extern "C" __global__ void attention_d_query(
    const T* qkv, const T* d_out, const Tile* tiles, const float* table, const u32* bucket_of, u32 buckets, Shape s,
    const float* lse, const float* delta, T* d_qkv, float* partial
) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, head = blockIdx.y;
    Tile tile = tiles[blockIdx.x];
    float* ds = shared + warp * 2 * s.room;
    float* sums = shared + 8 * s.room;
    const T* base = qkv + head * s.head_width;
    const T* d_base = d_out + head * s.head_width;
    u64 stride = 3 * (u64)s.width;
    if (table)
        for (u32 b = lane; b < buckets; b += 32) sums[warp * buckets + b] = 0.0f;
    for (u32 row = tile.first + warp; row < min(tile.first + 64, tile.end); row += 4) {
        u64 stat = (u64)row * s.heads + head;
        u32 end = s.causal ? row + 1 : tile.end, len = end - tile.begin;
        for (u32 j = tile.begin + lane; j < end; j += 32) {
            float z = dot(base + row * stride, base + j * stride + s.width, s.head_width) * s.scale;
            if (table) z += table[head * (2 * s.longest - 1) + j + s.longest - 1 - row];
            float p = expf(z - lse[stat]);
            float d_p = dot(d_base + (u64)row * s.width, base + j * stride + 2 * s.width, s.head_width);
            if (s.drop.rate > 0.0f) d_p *= drop_factor(s.drop, drop_place(s, row, head) + j - tile.begin);
            ds[j - tile.begin] = p * (d_p - delta[stat]);
        }
        __syncwarp();
        for (u32 d = lane; d < s.head_width; d += 32) {
            float sum = 0.0f;
            for (u32 j = 0; j < len; j++) sum += ds[j] * load1(base + (tile.begin + j) * stride + s.width + d);
            store1(d_qkv + row * stride + head * s.head_width + d, sum * s.scale);
        }
        if (table) {
            for (u32 b = lane; b < buckets; b += 32) {
                float sum = 0.0f;
                for (u32 j = 0; j < len; j++)
                    if (bucket_of[tile.begin + j + s.longest - 1 - row] == b) sum += ds[j];
                sums[warp * buckets + b] += sum;
            }
        }
        __syncwarp();
    }
    __syncthreads();
    if (table) {
        for (u32 b = threadIdx.x; b < buckets; b += 128) {
            float sum = 0.0f;
            for (u32 w = 0; w < 4; w++) sum += sums[w * buckets + b];
            partial[((u64)blockIdx.x * s.heads + head) * buckets + b] = sum;
        }
    }
}

// The gradients of the keys and values of a tile.
extern "C" __global__ void attention_d_key_value(
    const T* qkv, const T* d_out, const Tile* tiles, const float* table, Shape s, const float* lse, const float* delta,
    T* d_qkv
) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, head = blockIdx.y;
    Tile tile = tiles[blockIdx.x];
    float* ds = shared + warp * 2 * s.room;
    float* dropped = ds + s.room;
    const T* base = qkv + head * s.head_width;
    const T* d_base = d_out + head * s.head_width;
    u64 stride = 3 * (u64)s.width;
    u32 len = tile.end - tile.begin;
    for (u32 row = tile.first + warp; row < min(tile.first + 64, tile.end); row += 4) {
        u32 begin = s.causal ? row : tile.begin;
        for (u32 i = begin + lane; i < tile.end; i += 32) {
            u64 stat = (u64)i * s.heads + head;
            float z = dot(base + i * stride, base + row * stride + s.width, s.head_width) * s.scale;
            if (table) z += table[head * (2 * s.longest - 1) + row + s.longest - 1 - i];
            float p = expf(z - lse[stat]);
            float d_p = dot(d_base + (u64)i * s.width, base + row * stride + 2 * s.width, s.head_width);
            float factor = 1.0f;
            if (s.drop.rate > 0.0f) factor = drop_factor(s.drop, drop_place(s, i, head) + row - tile.begin);
            dropped[i - tile.begin] = p * factor;
            ds[i - tile.begin] = p * (d_p * factor - delta[stat]);
        }
        __syncwarp();
        for (u32 d = lane; d < s.head_width; d += 32) {
            float d_key = 0.0f, d_value = 0.0f;
            for (u32 i = begin - tile.begin; i < len; i++) {
                d_key += ds[i] * load1(base + (tile.begin + i) * stride + d);
                d_value += dropped[i] * load1(d_base + (u64)(tile.begin + i) * s.width + d);
            }
            T* to = d_qkv + row * stride + head * s.head_width + d;
            store1(to + s.width, d_key * s.scale);
            store1(to + 2 * s.width, d_value);
        }
        __syncwarp();
    }
}
