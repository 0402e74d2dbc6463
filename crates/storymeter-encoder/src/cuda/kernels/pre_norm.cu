// What the blocks of causal language models need beside the kernels of rows.cu: norms of any width
// that stand before a part, plain sums, gated products, and queries and keys that are turned by
// their positions.

// The word embeddings plus, where there are any, the embeddings of the positions. A thread takes
// eight numbers.
extern "C" __global__ void embed_plain(
    const u32* ids, const u32* places, const float* words, const float* positions, T* out, u32 rows, u32 width, Drop drop
) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, vectors = width / 8;
    u64 row = i / vectors, col = i % vectors * 8;
    if (row >= rows) return;
    float v[8];
    load8(words + (u64)ids[row] * width + col, v);
    if (positions) {
        float more[8];
        load8(positions + (u64)places[row] * width + col, more);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] += more[k];
    }
    drop8(drop, row * width + col, v);
    store8(out + row * width + col, v);
}

// out = branch after dropout, plus residual unless that is null. out may be branch.
extern "C" __global__ void add_dropped(const T* branch, const T* residual, T* out, u64 vectors, Drop drop) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    float v[8];
    load8(branch + i * 8, v);
    drop8(drop, i * 8, v);
    if (residual) {
        float more[8];
        load8(residual + i * 8, more);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] += more[k];
    }
    store8(out + i * 8, v);
}

// What a warp needs to normalise a row: the mean (0 for an RMS norm), and one over the deviation.
__device__ __forceinline__ void row_moments(
    const T* x, u32 width, bool rms, float eps, u32 lane, float& mean, float& scale
) {
    mean = 0.0f;
    if (!rms) {
        float sum = 0.0f;
        for (u32 col = lane * 8; col < width; col += 256) {
            float v[8];
            load8(x + col, v);
#pragma unroll
            for (int k = 0; k < 8; k++) sum += v[k];
        }
        mean = warp_sum(sum) / (float)width;
    }
    float square = 0.0f;
    for (u32 col = lane * 8; col < width; col += 256) {
        float v[8];
        load8(x + col, v);
#pragma unroll
        for (int k = 0; k < 8; k++) square += (v[k] - mean) * (v[k] - mean);
    }
    scale = rsqrtf(warp_sum(square) / (float)width + eps);
}

// Layer norm, or RMS norm where shift is null. One warp per row.
extern "C" __global__ void norm_plain(
    const T* x, const float* gain, const float* shift, float eps, T* out, u32 rows, u32 width
) {
    u32 lane = threadIdx.x % 32;
    u64 row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    float mean, scale;
    row_moments(x + row * width, width, !shift, eps, lane, mean, scale);
    for (u32 col = lane * 8; col < width; col += 256) {
        float v[8], g[8], s[8] = {};
        load8(x + row * width + col, v);
        load8(gain + col, g);
        if (shift) load8(shift + col, s);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = (v[k] - mean) * scale * g[k] + s[k];
        store8(out + row * width + col, v);
    }
}

// Adds the gradient of x to d_x, and writes the mean and scale of each row to moments[row][2]. One
// warp per row.
extern "C" __global__ void norm_plain_backward(
    const T* x, const T* d_out, const float* gain, u32 rms, float eps, T* d_x, float* moments, u32 rows, u32 width
) {
    u32 lane = threadIdx.x % 32;
    u64 row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    const T* at = x + row * width;
    const T* d_at = d_out + row * width;
    float mean, scale, g_sum = 0.0f, n_sum = 0.0f;
    row_moments(at, width, rms, eps, lane, mean, scale);
    for (u32 col = lane * 8; col < width; col += 256) {
        float v[8], d[8], g[8];
        load8(at + col, v);
        load8(d_at + col, d);
        load8(gain + col, g);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            g_sum += d[k] * g[k];
            n_sum += d[k] * g[k] * (v[k] - mean) * scale;
        }
    }
    g_sum = rms ? 0.0f : warp_sum(g_sum) / (float)width;
    n_sum = warp_sum(n_sum) / (float)width;
    for (u32 col = lane * 8; col < width; col += 256) {
        float v[8], d[8], g[8], to[8];
        load8(at + col, v);
        load8(d_at + col, d);
        load8(gain + col, g);
        load8(d_x + row * width + col, to);
#pragma unroll
        for (int k = 0; k < 8; k++) to[k] += scale * (d[k] * g[k] - g_sum - (v[k] - mean) * scale * n_sum);
        store8(d_x + row * width + col, to);
    }
    if (lane == 0) {
        moments[2 * row] = mean;
        moments[2 * row + 1] = scale;
    }
}

// The sums for gain and shift over rows_per_block rows, into partial[blockIdx.y][2][width]. A block
// has 32 columns and 8 groups of rows.
extern "C" __global__ void norm_plain_gradients(
    const T* x, const T* d_out, const float* moments, u32 rows, u32 width, u32 rows_per_block, float* partial
) {
    __shared__ float gains[8][33], shifts[8][33];
    u32 lane = threadIdx.x % 32, group = threadIdx.x / 32, col = blockIdx.x * 32 + lane;
    u32 first = blockIdx.y * rows_per_block, last = min(first + rows_per_block, rows);
    float d_gain = 0.0f, d_shift = 0.0f;
    if (col < width) {
        for (u32 row = first + group; row < last; row += 8) {
            float d = load1(d_out + (u64)row * width + col);
            d_gain += d * (load1(x + (u64)row * width + col) - moments[2 * row]) * moments[2 * row + 1];
            d_shift += d;
        }
    }
    gains[group][lane] = d_gain;
    shifts[group][lane] = d_shift;
    __syncthreads();
    if (group == 0 && col < width) {
        for (u32 g = 1; g < 8; g++) {
            d_gain += gains[g][lane];
            d_shift += shifts[g][lane];
        }
        partial[(u64)blockIdx.y * 2 * width + col] = d_gain;
        partial[(u64)blockIdx.y * 2 * width + width + col] = d_shift;
    }
}

extern "C" __global__ void gated(const T* gate, const T* up, T* out, u64 vectors, u32 kind) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    float g[8], u[8];
    load8(gate + i * 8, g);
    load8(up + i * 8, u);
#pragma unroll
    for (int k = 0; k < 8; k++) u[k] *= activation(g[k], kind);
    store8(out + i * 8, u);
}

extern "C" __global__ void gated_backward(
    const T* gate, const T* up, const T* d_out, T* d_gate, T* d_up, u64 vectors, u32 kind
) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    float g[8], u[8], d[8], d_g[8], d_u[8];
    load8(gate + i * 8, g);
    load8(up + i * 8, u);
    load8(d_out + i * 8, d);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        d_g[k] = d[k] * u[k] * slope(g[k], kind);
        d_u[k] = d[k] * activation(g[k], kind);
    }
    store8(d_gate + i * 8, d_g);
    store8(d_up + i * 8, d_u);
}

struct Rotary {
    u32 heads, key_heads, head_width;
};

// Queries, keys and values of rows of (heads + 2 * key_heads) heads become rows of 3 * heads heads:
// queries and keys are turned by the angles of their positions, and keys and values are repeated
// for the heads that share them. One thread per row, head and pair of columns.
extern "C" __global__ void turn_heads(
    const T* qkv, const u32* places, const float* angles, u32 rows, Rotary r, T* out
) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 half = r.head_width / 2, pairs = r.heads * half;
    u64 row = i / pairs;
    if (row >= rows) return;
    u32 head = i % pairs / half, pair = i % half, key = head / (r.heads / r.key_heads);
    float cosine = angles[(u64)places[row] * r.head_width + pair];
    float sine = angles[(u64)places[row] * r.head_width + half + pair];
    const T* from = qkv + row * (r.heads + 2 * r.key_heads) * r.head_width + pair;
    T* to = out + row * 3 * r.heads * r.head_width + head * r.head_width + pair;
    const T* query = from + head * r.head_width;
    const T* own_key = from + (r.heads + key) * r.head_width;
    const T* value = from + (r.heads + r.key_heads + key) * r.head_width;
    float x = load1(query), y = load1(query + half);
    store1(to, x * cosine - y * sine);
    store1(to + half, y * cosine + x * sine);
    to += r.heads * r.head_width;
    x = load1(own_key);
    y = load1(own_key + half);
    store1(to, x * cosine - y * sine);
    store1(to + half, y * cosine + x * sine);
    to += r.heads * r.head_width;
    store1(to, load1(value));
    store1(to + half, load1(value + half));
}

// The way back: one thread per row, head of keys and pair of columns.
extern "C" __global__ void turn_heads_back(
    const T* d, const u32* places, const float* angles, u32 rows, Rotary r, T* out
) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 half = r.head_width / 2, pairs = r.key_heads * half, sharing = r.heads / r.key_heads;
    u64 row = i / pairs;
    if (row >= rows) return;
    u32 key = i % pairs / half, pair = i % half;
    float cosine = angles[(u64)places[row] * r.head_width + pair];
    float sine = angles[(u64)places[row] * r.head_width + half + pair];
    const T* from = d + row * 3 * r.heads * r.head_width + pair;
    T* to = out + row * (r.heads + 2 * r.key_heads) * r.head_width + pair;
    float key_x = 0.0f, key_y = 0.0f, value_x = 0.0f, value_y = 0.0f;
    for (u32 head = key * sharing; head < (key + 1) * sharing; head++) {
        const T* query = from + head * r.head_width;
        float x = load1(query), y = load1(query + half);
        store1(to + head * r.head_width, x * cosine + y * sine);
        store1(to + head * r.head_width + half, y * cosine - x * sine);
        const T* own_key = query + r.heads * r.head_width;
        key_x += load1(own_key);
        key_y += load1(own_key + half);
        const T* value = own_key + r.heads * r.head_width;
        value_x += load1(value);
        value_y += load1(value + half);
    }
    to += (r.heads + key) * r.head_width;
    store1(to, key_x * cosine + key_y * sine);
    store1(to + half, key_y * cosine - key_x * sine);
    to += r.key_heads * r.head_width;
    store1(to, value_x);
    store1(to + half, value_y);
}
