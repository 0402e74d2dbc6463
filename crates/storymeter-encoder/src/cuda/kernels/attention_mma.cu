// Attention on tensor cores, for sixteen bits and heads of 32 or 64 columns: online softmax, and
// four warps of 16 rows per block.
#if HALF

template <int D, bool CAUSAL>
__device__ __forceinline__ void attention_tile(
    const T* qkv, const Tile* tiles, const float* table, const Shape& s, T* out, float* lse
) {
    __shared__ __align__(16) T keys[64][D + PAD], values[64][D + PAD];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, head = blockIdx.y;
    Tile tile = tiles[blockIdx.x];
    const T* base = qkv + head * D;
    u64 stride = 3 * (u64)s.width;
    u32 first = tile.first + warp * 16, r0 = first + lane / 4;
    bool active = first < tile.end;
    u32 q[D / 16][4];
    load_left<D>(q, base, stride, first, tile.end, lane);
    float o[D / 8][4] = {}, top[2] = {-INFINITE, -INFINITE}, total[2] = {0.0f, 0.0f};
    const float* bias = table ? table + head * (2 * s.longest - 1) + s.longest - 1 : 0;
    // Later keys than the last row of the tile are hidden from all of its rows.
    u32 end = CAUSAL ? min(tile.end, tile.first + 64) : tile.end;
    for (u32 start = tile.begin; start < end; start += 64) {
        __syncthreads();
        load_tile<D>(keys, base + s.width, stride, start, tile.end);
        load_tile<D>(values, base + 2 * s.width, stride, start, tile.end);
        __syncthreads();
        if (!active) continue;
        u32 parts = (min(tile.end - start, 64u) + 7) / 8;
        float p[8][4] = {};
        outer<D>(p, q, keys, parts, lane);
        float best[2] = {top[0], top[1]};
#pragma unroll
        for (int n = 0; n < 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                u32 j = start + n * 8 + lane % 4 * 2 + e % 2;
                u32 row = r0 + e / 2 * 8;
                float z = p[n][e] * s.scale;
                if (bias && j < tile.end && row < tile.end) z += bias[(int)j - (int)row];
                p[n][e] = j < tile.end && (!CAUSAL || j <= row) ? z : -INFINITE;
                best[e / 2] = fmaxf(best[e / 2], p[n][e]);
            }
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            best[h] = fmaxf(best[h], __shfl_xor_sync(0xffffffffu, best[h], 1));
            best[h] = fmaxf(best[h], __shfl_xor_sync(0xffffffffu, best[h], 2));
            float factor = __expf(top[h] - best[h]);
            top[h] = best[h];
            total[h] *= factor;
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
                o[n][2 * h] *= factor;
                o[n][2 * h + 1] *= factor;
            }
        }
#pragma unroll
        for (int n = 0; n < 8; n++) {
            if (n < parts) {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    float z = __expf(p[n][e] - top[e / 2]);
                    total[e / 2] += z;
                    u32 j = start - tile.begin + n * 8 + lane % 4 * 2 + e % 2;
                    if (s.drop.rate > 0.0f) z *= drop_factor(s.drop, drop_place(s, r0 + e / 2 * 8, head) + j);
                    p[n][e] = z;
                }
            } else {
                p[n][0] = p[n][1] = p[n][2] = p[n][3] = 0.0f;
            }
        }
        mix<D>(o, p, values, parts, lane);
    }
    if (!active) return;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        total[h] += __shfl_xor_sync(0xffffffffu, total[h], 1);
        total[h] += __shfl_xor_sync(0xffffffffu, total[h], 2);
        u32 row = r0 + h * 8;
        if (lane % 4 == 0 && row < tile.end) lse[(u64)row * s.heads + head] = top[h] + __logf(total[h]);
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
            o[n][2 * h] /= total[h];
            o[n][2 * h + 1] /= total[h];
        }
    }
    store_rows<D>(out + head * D, s.width, first, tile.end, o, 1.0f, lane);
}

// The backward pass for 64 rows of one side against all rows of the other. With QUERIES, rows are
// queries and columns are keys, and the result is d_query. Otherwise rows are keys and columns are
// queries, and the results are d_key and d_value.
template <int D, bool QUERIES, bool CAUSAL>
__device__ __forceinline__ void attention_backward_tile(
    const T* qkv, const T* d_out, const Tile* tiles, const float* table, const u32* bucket_of, u32 buckets,
    const Shape& s, const float* lse, const float* delta, T* d_qkv, float* partial
) {
    __shared__ __align__(16) T one[64][D + PAD], two[64][D + PAD];
    __shared__ float col_lse[64], col_delta[64];
    __shared__ float scores[QUERIES ? 64 : 1][QUERIES ? 65 : 1], by_bucket[QUERIES ? 64 : 1], by_distance[QUERIES ? 127 : 1];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, head = blockIdx.y;
    Tile tile = tiles[blockIdx.x];
    const T* base = qkv + head * D;
    const T* d_base = d_out + head * D;
    u64 stride = 3 * (u64)s.width;
    u32 first = tile.first + warp * 16, r0 = first + lane / 4;
    bool active = first < tile.end;
    const float* bias = table ? table + head * (2 * s.longest - 1) + s.longest - 1 : 0;
    // The left sides: queries and d_out, or keys and values.
    u32 a1[D / 16][4], a2[D / 16][4];
    load_left<D>(a1, QUERIES ? base : base + s.width, stride, first, tile.end, lane);
    load_left<D>(a2, QUERIES ? d_base : base + 2 * s.width, QUERIES ? s.width : stride, first, tile.end, lane);
    float row_lse[2] = {}, row_delta[2] = {};
    if (QUERIES) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            u32 row = r0 + h * 8;
            if (row < tile.end) {
                row_lse[h] = lse[(u64)row * s.heads + head];
                row_delta[h] = delta[(u64)row * s.heads + head];
            }
        }
        if (table)
            for (u32 b = threadIdx.x; b < buckets; b += 128) by_bucket[b] = 0.0f;
    }
    float d1[D / 8][4] = {}, d2[D / 8][4] = {};
    // Queries see no keys behind this tile, and keys are not seen by queries before it.
    u32 begin = CAUSAL && !QUERIES ? tile.first : tile.begin;
    u32 end = CAUSAL && QUERIES ? min(tile.end, tile.first + 64) : tile.end;
    for (u32 start = begin; start < end; start += 64) {
        __syncthreads();
        load_tile<D>(one, QUERIES ? base + s.width : base, stride, start, tile.end);
        load_tile<D>(two, QUERIES ? base + 2 * s.width : d_base, QUERIES ? stride : s.width, start, tile.end);
        if (!QUERIES && threadIdx.x < 64) {
            u32 row = start + threadIdx.x;
            col_lse[threadIdx.x] = row < tile.end ? lse[(u64)row * s.heads + head] : 0.0f;
            col_delta[threadIdx.x] = row < tile.end ? delta[(u64)row * s.heads + head] : 0.0f;
        }
        __syncthreads();
        u32 parts = (min(tile.end - start, 64u) + 7) / 8;
        float p[8][4] = {}, d[8][4] = {};
        if (active) {
            outer<D>(p, a1, one, parts, lane);
            outer<D>(d, a2, two, parts, lane);
#pragma unroll
            for (int n = 0; n < 8; n++) {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    u32 at = n * 8 + lane % 4 * 2 + e % 2;
                    u32 col = start + at, row = r0 + e / 2 * 8;
                    u32 query = QUERIES ? row : col, key = QUERIES ? col : row;
                    float prob = 0.0f, grad = 0.0f;
                    if (col < tile.end && row < tile.end && (!CAUSAL || key <= query)) {
                        float z = p[n][e] * s.scale;
                        if (bias) z += bias[(int)key - (int)query];
                        prob = __expf(z - (QUERIES ? row_lse[e / 2] : col_lse[at]));
                        float factor = 1.0f;
                        if (s.drop.rate > 0.0f)
                            factor = drop_factor(s.drop, drop_place(s, query, head) + key - tile.begin);
                        grad = prob * (d[n][e] * factor - (QUERIES ? row_delta[e / 2] : col_delta[at]));
                        prob *= factor;
                    }
                    p[n][e] = prob;
                    d[n][e] = grad;
                }
            }
            mix<D>(d1, d, one, parts, lane);
            if (!QUERIES) mix<D>(d2, p, two, parts, lane);
        }
        if (QUERIES && table) {
            // Sums along the diagonals, then by bucket, each in a fixed order.
#pragma unroll
            for (int n = 0; n < 8; n++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    scores[warp * 16 + lane / 4 + e / 2 * 8][n * 8 + lane % 4 * 2 + e % 2] = d[n][e];
            __syncthreads();
            if (threadIdx.x < 127) {
                int distance = (int)threadIdx.x - 63;
                float sum = 0.0f;
                for (int i = max(0, -distance); i < min(64, 64 - distance); i++) sum += scores[i][i + distance];
                by_distance[threadIdx.x] = sum;
            }
            __syncthreads();
            for (u32 b = threadIdx.x; b < buckets; b += 128) {
                float sum = by_bucket[b];
                for (int t = 0; t < 127; t++) {
                    int at = (int)start - (int)tile.first + t - 63 + (int)s.longest - 1;
                    if (at >= 0 && at < (int)(2 * s.longest - 1) && bucket_of[at] == b) sum += by_distance[t];
                }
                by_bucket[b] = sum;
            }
        }
    }
    if (QUERIES && table) {
        __syncthreads();
        for (u32 b = threadIdx.x; b < buckets; b += 128)
            partial[((u64)blockIdx.x * s.heads + head) * buckets + b] = by_bucket[b];
    }
    if (!active) return;
    T* to = d_qkv + head * D;
    store_rows<D>(QUERIES ? to : to + s.width, stride, first, tile.end, d1, s.scale, lane);
    if (!QUERIES) store_rows<D>(to + 2 * s.width, stride, first, tile.end, d2, 1.0f, lane);
}

#define MMA_KERNELS(D, NAME, CAUSAL)                                                                                 \
    extern "C" __global__ void __launch_bounds__(128) attention_##NAME(                                              \
        const T* qkv, const Tile* tiles, const float* table, Shape s, T* out, float* lse                             \
    ) {                                                                                                              \
        attention_tile<D, CAUSAL>(qkv, tiles, table, s, out, lse);                                                   \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(128) attention_d_query_##NAME(                                      \
        const T* qkv, const T* d_out, const Tile* tiles, const float* table, const u32* bucket_of, u32 buckets,      \
        Shape s, const float* lse, const float* delta, T* d_qkv, float* partial                                      \
    ) {                                                                                                              \
        attention_backward_tile<D, true, CAUSAL>(                                                                    \
            qkv, d_out, tiles, table, bucket_of, buckets, s, lse, delta, d_qkv, partial                              \
        );                                                                                                           \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(128) attention_d_key_value_##NAME(                                  \
        const T* qkv, const T* d_out, const Tile* tiles, const float* table, Shape s, const float* lse,              \
        const float* delta, T* d_qkv                                                                                 \
    ) {                                                                                                              \
        attention_backward_tile<D, false, CAUSAL>(                                                                   \
            qkv, d_out, tiles, table, 0, 0, s, lse, delta, d_qkv, 0                                                  \
        );                                                                                                           \
    }
MMA_KERNELS(32, mma_32, false)
MMA_KERNELS(64, mma_64, false)
MMA_KERNELS(32, mma_causal_32, true)
MMA_KERNELS(64, mma_causal_64, true)
#endif
