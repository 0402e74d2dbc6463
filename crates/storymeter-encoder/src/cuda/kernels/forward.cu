// Inference beside matrix products and attention. The hidden states (x) are floats in every
// precision, and so they neither overflow nor lose digits from block to block. What a product reads
// or writes is of type T.

#if !HALF
// The number of eleven bits, as TF32 has them, that is nearest to x.
__device__ __forceinline__ float eleven_bits(float x) {
    return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

// Tensor cores multiply numbers of eleven bits exactly and add the products as floats. A float is
// the sum of two such numbers, a high and a low one, up to its last bit or two. A product of rows
// is therefore high * high + low * high + high * low, where low * low is too small to count. Here
// a row becomes the left (high, low, high) or right (high, high, low) side of that sum.
extern "C" __global__ void split_rows(const float* x, u32 rows, u32 width, u32 right, float* out) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, vectors = width / 8;
    u64 row = i / vectors, col = i % vectors * 8;
    if (row >= rows) return;
    float first[8], second[8], third[8];
    load8(x + row * width + col, first);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float high = eleven_bits(first[k]), low = eleven_bits(first[k] - high);
        first[k] = high;
        second[k] = right ? high : low;
        third[k] = right ? low : high;
    }
    float* to = out + row * 3 * width + col;
    store8(to, first);
    store8(to + width, second);
    store8(to + 2 * width, third);
}
#endif

// The sum of a word's embedding and of those of its position and of its segment, where there are
// such tables.
extern "C" __global__ void embed_tokens(
    const u32* ids, const u32* places, const u32* kinds, const T* words, const float* positions,
    const float* segments, u32 rows, u32 width, float* x
) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, vectors = width / 8;
    u64 row = i / vectors, col = i % vectors * 8;
    if (row >= rows) return;
    float v[8], more[8];
    load8(words + (u64)ids[row] * width + col, v);
    if (positions) {
        load8(positions + (u64)places[row] * width + col, more);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] += more[k];
    }
    if (segments) {
        load8(segments + (u64)kinds[row] * width + col, more);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] += more[k];
    }
    store8(x + row * width + col, v);
}

// The sum of x and, unless it is null, of a branch; and the norm of that sum: layer norm, or RMS
// norm where `rms` is set. Each result goes where its pointer is not null. A warp owns a row, which
// it keeps in shared memory: no other warp looks at it there.
extern "C" __global__ void norm_rows(
    const float* x, const T* branch, const float* gain, const float* shift, float eps, u32 rms, u32 rows, u32 width,
    float* sum, float* out, T* active
) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + warp, at = row * width;
    if (row >= rows) return;
    float* kept = shared + warp * width;
    float total = 0.0f;
    for (u32 col = lane * 8; col < width; col += 256) {
        float v[8];
        load8(x + at + col, v);
        if (branch) {
            float more[8];
            load8(branch + at + col, more);
#pragma unroll
            for (int i = 0; i < 8; i++) v[i] += more[i];
        }
        if (sum) store8(sum + at + col, v);
        store8(kept + col, v);
#pragma unroll
        for (int i = 0; i < 8; i++) total += v[i];
    }
    float mean = rms ? 0.0f : warp_sum(total) / (float)width, square = 0.0f;
    for (u32 col = lane * 8; col < width; col += 256) {
        float v[8];
        load8(kept + col, v);
#pragma unroll
        for (int i = 0; i < 8; i++) square += (v[i] - mean) * (v[i] - mean);
    }
    float scale = rsqrtf(warp_sum(square) / (float)width + eps);
    for (u32 col = lane * 8; col < width; col += 256) {
        float v[8], g[8];
        load8(kept + col, v);
        load8(gain + col, g);
#pragma unroll
        for (int i = 0; i < 8; i++) v[i] = (v[i] - mean) * scale * g[i];
        if (shift) {
            load8(shift + col, g);
#pragma unroll
            for (int i = 0; i < 8; i++) v[i] += g[i];
        }
        if (out) store8(out + at + col, v);
        if (active) store8(active + at + col, v);
    }
}

extern "C" __global__ void add_branch(const float* x, const T* branch, u64 vectors, float* sum) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    float v[8], more[8];
    load8(x + i * 8, v);
    load8(branch + i * 8, more);
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] += more[k];
    store8(sum + i * 8, v);
}

// Applies an activation in place.
extern "C" __global__ void activate_all(T* x, u64 vectors, u32 kind) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    float v[8];
    load8(x + i * 8, v);
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = activation(v[k], kind);
    store8(x + i * 8, v);
}

// A row of `both` has the gate and then what it is for, of `width` numbers each. The result is the
// activated gate times the other.
extern "C" __global__ void gate_rows(const T* both, u32 rows, u32 width, u32 kind, T* out) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, vectors = width / 8;
    u64 row = i / vectors, col = i % vectors * 8;
    if (row >= rows) return;
    float v[8], more[8];
    load8(both + row * 2 * width + col, v);
    load8(both + row * 2 * width + width + col, more);
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = activation(v[k], kind) * more[k];
    store8(out + row * width + col, v);
}

// Rotary positions: turns the pairs of columns (i, i + half) of the first heads of every row, in
// place. `turns` has the cosine and the sine of each position and pair.
extern "C" __global__ void rotate_heads(
    T* x, const u32* places, const float* turns, u32 rows, u32 heads, u32 width, u32 half, u32 stride
) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 pair = i % half, head = i / half % heads;
    u64 row = i / half / heads;
    if (row >= rows) return;
    const float* turn = turns + ((u64)places[row] * half + pair) * 2;
    T* first = x + row * stride + head * width + pair;
    T* second = first + half;
    float a = load1(first), b = load1(second);
    store1(first, a * turn[0] - b * turn[1]);
    store1(second, b * turn[0] + a * turn[1]);
}

// Rows of x, by number, for a product.
extern "C" __global__ void gather_active(const float* x, const u32* rows, u32 count, u32 width, T* out) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, vectors = width / 8;
    u64 row = i / vectors, col = i % vectors * 8;
    if (row >= count) return;
    float v[8];
    load8(x + (u64)rows[row] * width + col, v);
    store8(out + row * width + col, v);
}

// Adds a bias to the first `outputs` numbers of rows that are `stride` numbers apart.
extern "C" __global__ void add_bias(float* x, const float* bias, u32 rows, u32 outputs, u32 stride) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i / outputs < rows) x[i / outputs * stride + i % outputs] += bias[i % outputs];
}

// The logarithm of the probability of one output of each row of logits, to which a bias is added
// unless it is null. A block of 256 threads owns a row.
extern "C" __global__ void log_likelihoods(
    const float* logits, u32 stride, u32 outputs, const float* bias, const u32* targets, float* out
) {
    __shared__ float tops[8], totals[8];
    const float* row = logits + (u64)blockIdx.x * stride;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float top = -INFINITE, total = 0.0f;
    for (u32 col = threadIdx.x; col < outputs; col += 256) {
        float z = row[col] + (bias ? bias[col] : 0.0f);
        if (z > top) {
            total *= expf(top - z);
            top = z;
        }
        total += expf(z - top);
    }
    float highest = warp_max(top);
    total = warp_sum(top == -INFINITE ? 0.0f : total * expf(top - highest));
    if (lane == 0) {
        tops[warp] = highest;
        totals[warp] = total;
    }
    __syncthreads();
    if (threadIdx.x) return;
    top = -INFINITE;
    total = 0.0f;
    for (u32 w = 0; w < 8; w++) top = fmaxf(top, tops[w]);
    for (u32 w = 0; w < 8; w++) total += tops[w] == -INFINITE ? 0.0f : totals[w] * expf(tops[w] - top);
    u32 target = targets[blockIdx.x];
    out[blockIdx.x] = row[target] + (bias ? bias[target] : 0.0f) - top - logf(total);
}
