// Operations row by row: embedding, sums and layer norm, activations, column sums, gather and
// scatter. A warp owns a row, and a lane owns at most NV vectors of 8 columns (width <= 256 * NV).
// Kernels repeat the loop over a row, because each keeps the row in its own registers.

template <int NV>
__device__ __forceinline__ void norm_row(
    float x[NV][8], u32 width, const float* gain, const float* shift, float eps, u32 lane, float& mean, float& scale
) {
    float sum = 0.0f;
#pragma unroll
    for (int v = 0; v < NV; v++)
        if ((v * 32 + lane) * 8 < width)
#pragma unroll
            for (int i = 0; i < 8; i++) sum += x[v][i];
    mean = warp_sum(sum) / (float)width;
    float square = 0.0f;
#pragma unroll
    for (int v = 0; v < NV; v++)
        if ((v * 32 + lane) * 8 < width)
#pragma unroll
            for (int i = 0; i < 8; i++) square += (x[v][i] - mean) * (x[v][i] - mean);
    scale = rsqrtf(warp_sum(square) / (float)width + eps);
}

// x holds the sum, which is not yet rounded to what is stored of it. Normalises, applies dropout
// and writes.
template <int NV>
__device__ __forceinline__ void norm_out(
    float x[NV][8], u64 row, u32 width, const float* gain, const float* shift, float eps, u32 lane, T* out, Drop drop
) {
    float mean, scale;
    norm_row<NV>(x, width, gain, shift, eps, lane, mean, scale);
#pragma unroll
    for (int v = 0; v < NV; v++) {
        u32 col = (v * 32 + lane) * 8;
        if (col < width) {
            float g[8], s[8];
            load8(gain + col, g);
            load8(shift + col, s);
#pragma unroll
            for (int i = 0; i < 8; i++) g[i] = (x[v][i] - mean) * scale * g[i] + s[i];
            drop8(drop, row * width + col, g);
            store8(out + row * width + col, g);
        }
    }
}

template <int NV>
__device__ __forceinline__ void embed_rows(
    const u32* ids, const u32* places, const float* words, const float* positions, const float* segments,
    const u32* kinds, const float* gain, const float* shift, float eps, T* sum, T* out, u32 rows, u32 width, Drop drop
) {
    u32 lane = threadIdx.x % 32;
    u64 row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    u64 id = ids[row], place = places[row], segment = kinds ? kinds[row] : 0;
    float x[NV][8];
#pragma unroll
    for (int v = 0; v < NV; v++) {
        u32 col = (v * 32 + lane) * 8;
        if (col < width) {
            float more[8];
            load8(words + id * width + col, x[v]);
            load8(positions + place * width + col, more);
#pragma unroll
            for (int i = 0; i < 8; i++) x[v][i] += more[i];
            if (segments) {
                load8(segments + segment * width + col, more);
#pragma unroll
                for (int i = 0; i < 8; i++) x[v][i] += more[i];
            }
            store8(sum + row * width + col, x[v]);
        }
    }
    norm_out<NV>(x, row, width, gain, shift, eps, lane, out, drop);
}

// The branch becomes the sum.
template <int NV>
__device__ __forceinline__ void add_norm_rows(
    T* branch, const T* residual, const float* gain, const float* shift, float eps, T* out, u32 rows, u32 width, Drop drop
) {
    u32 lane = threadIdx.x % 32;
    u64 row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    float x[NV][8];
#pragma unroll
    for (int v = 0; v < NV; v++) {
        u32 col = (v * 32 + lane) * 8;
        if (col < width) {
            float more[8];
            load8(branch + row * width + col, x[v]);
            load8(residual + row * width + col, more);
            drop8(drop, row * width + col, x[v]);
#pragma unroll
            for (int i = 0; i < 8; i++) x[v][i] += more[i];
            store8(branch + row * width + col, x[v]);
        }
    }
    Drop none = {0, 0.0f, 1.0f};
    norm_out<NV>(x, row, width, gain, shift, eps, lane, out, none);
}

// The gradients of the sum (d_residual) and of what was dropped before it (d_branch, unless it is
// null). drop_out was applied to the result of the norm, drop_in to the branch. Each block writes
// its sums for gain and shift to partial[block][2][width].
template <int NV>
__device__ __forceinline__ void norm_backward_rows(
    const T* sum, const T* d_out, const float* gain, float eps, T* d_residual, T* d_branch, float* partial,
    u32 rows, u32 width, Drop drop_out, Drop drop_in
) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float d_gain[NV][8] = {}, d_shift[NV][8] = {};
    for (u64 row = blockIdx.x * warps + warp; row < rows; row += gridDim.x * warps) {
        float x[NV][8], g[NV][8];
#pragma unroll
        for (int v = 0; v < NV; v++) {
            u32 col = (v * 32 + lane) * 8;
            if (col < width) {
                load8(sum + row * width + col, x[v]);
                load8(d_out + row * width + col, g[v]);
                drop8(drop_out, row * width + col, g[v]);
            }
        }
        float mean, scale;
        norm_row<NV>(x, width, gain, gain, eps, lane, mean, scale);
        float g_sum = 0.0f, n_sum = 0.0f;
#pragma unroll
        for (int v = 0; v < NV; v++) {
            u32 col = (v * 32 + lane) * 8;
            if (col < width) {
                float w[8];
                load8(gain + col, w);
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    x[v][i] = (x[v][i] - mean) * scale;
                    d_gain[v][i] += g[v][i] * x[v][i];
                    d_shift[v][i] += g[v][i];
                    g[v][i] *= w[i];
                    g_sum += g[v][i];
                    n_sum += g[v][i] * x[v][i];
                }
            }
        }
        g_sum = warp_sum(g_sum) / (float)width;
        n_sum = warp_sum(n_sum) / (float)width;
#pragma unroll
        for (int v = 0; v < NV; v++) {
            u32 col = (v * 32 + lane) * 8;
            if (col < width) {
#pragma unroll
                for (int i = 0; i < 8; i++) g[v][i] = scale * (g[v][i] - g_sum - x[v][i] * n_sum);
                store8(d_residual + row * width + col, g[v]);
                if (d_branch) {
                    drop8(drop_in, row * width + col, g[v]);
                    store8(d_branch + row * width + col, g[v]);
                }
            }
        }
    }
    // The sums of the warps one after the other, in order.
    for (u32 turn = 0; turn < warps; turn++) {
        if (warp == turn) {
#pragma unroll
            for (int v = 0; v < NV; v++) {
                u32 col = (v * 32 + lane) * 8;
                if (col < width) {
#pragma unroll
                    for (int i = 0; i < 8; i++) {
                        float* a = shared + col + i;
                        float* b = a + width;
                        *a = turn ? *a + d_gain[v][i] : d_gain[v][i];
                        *b = turn ? *b + d_shift[v][i] : d_shift[v][i];
                    }
                }
            }
        }
        __syncthreads();
    }
    for (u32 i = threadIdx.x; i < 2 * width; i += blockDim.x) partial[(u64)blockIdx.x * 2 * width + i] = shared[i];
}

#define ROW_KERNELS(NV)                                                                                              \
    extern "C" __global__ void embed_##NV(                                                                           \
        const u32* ids, const u32* places, const float* words, const float* positions, const float* segments,       \
        const u32* kinds, const float* gain, const float* shift, float eps, T* sum, T* out, u32 rows, u32 width,     \
        Drop drop                                                                                                    \
    ) {                                                                                                              \
        embed_rows<NV>(                                                                                              \
            ids, places, words, positions, segments, kinds, gain, shift, eps, sum, out, rows, width, drop            \
        );                                                                                                           \
    }                                                                                                                \
    extern "C" __global__ void add_norm_##NV(                                                                        \
        T* branch, const T* residual, const float* gain, const float* shift, float eps, T* out, u32 rows, u32 width, \
        Drop drop                                                                                                    \
    ) {                                                                                                              \
        add_norm_rows<NV>(branch, residual, gain, shift, eps, out, rows, width, drop);                               \
    }                                                                                                                \
    extern "C" __global__ void norm_backward_##NV(                                                                   \
        const T* sum, const T* d_out, const float* gain, float eps, T* d_residual, T* d_branch, float* partial,      \
        u32 rows, u32 width, Drop drop_out, Drop drop_in                                                             \
    ) {                                                                                                              \
        norm_backward_rows<NV>(                                                                                      \
            sum, d_out, gain, eps, d_residual, d_branch, partial, rows, width, drop_out, drop_in                     \
        );                                                                                                           \
    }
ROW_KERNELS(1)
ROW_KERNELS(2)
ROW_KERNELS(3)
ROW_KERNELS(4)

// Adds partial[0..parts][stride], summed over the parts in order, to to[0..count]. A block has 32
// columns and 8 groups of parts.
extern "C" __global__ void add_partials(const float* partial, u32 parts, u32 stride, u32 count, float* to) {
    __shared__ float sums[8][33];
    u32 lane = threadIdx.x % 32, group = threadIdx.x / 32, col = blockIdx.x * 32 + lane;
    float sum = 0.0f;
    if (col < count)
        for (u32 p = group; p < parts; p += 8) sum += partial[(u64)p * stride + col];
    sums[group][lane] = sum;
    __syncthreads();
    if (group == 0 && col < count) {
        for (u32 g = 1; g < 8; g++) sum += sums[g][lane];
        to[col] += sum;
    }
}

extern "C" __global__ void activate(const T* x, T* out, u64 vectors, u32 kind) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    float v[8];
    load8(x + i * 8, v);
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = activation(v[k], kind);
    store8(out + i * 8, v);
}

// Column sums of rows_per_block rows into partial[blockIdx.y][stride]. With `before`, x is first
// multiplied in place with the slope of the activation there. A block takes 256 columns and 8 rows
// at a time.
extern "C" __global__ void column_sums(
    T* x, const T* before, u32 kind, u32 rows, u32 stride, u32 rows_per_block, float* partial
) {
    __shared__ float sums[8][32][9];
    u32 lane = threadIdx.x % 32, group = threadIdx.x / 32, col = (blockIdx.x * 32 + lane) * 8;
    float sum[8] = {};
    if (col < stride) {
        u32 first = blockIdx.y * rows_per_block, last = min(first + rows_per_block, rows);
#pragma unroll 2
        for (u32 row = first + group; row < last; row += 8) {
            float v[8];
            load8(x + (u64)row * stride + col, v);
            if (before) {
                float b[8];
                load8(before + (u64)row * stride + col, b);
#pragma unroll
                for (int i = 0; i < 8; i++) v[i] *= slope(b[i], kind);
                store8(x + (u64)row * stride + col, v);
            }
#pragma unroll
            for (int i = 0; i < 8; i++) sum[i] += v[i];
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++) sums[group][lane][i] = sum[i];
    __syncthreads();
    u32 t = threadIdx.x, c = blockIdx.x * 256 + t;
    if (c < stride) {
        float total = 0.0f;
        for (u32 g = 0; g < 8; g++) total += sums[g][t / 8][t % 8];
        partial[(u64)blockIdx.y * stride + c] = total;
    }
}

extern "C" __global__ void scale_numbers(T* x, const float* factors, u64 count) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) store1(x + i, load1(x + i) * factors[i]);
}

extern "C" __global__ void gather_rows(const T* x, const u32* rows, u32 count, u32 width, T* out) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, vectors = width / 8;
    u64 row = i / vectors, col = i % vectors * 8;
    if (row >= count) return;
    float v[8];
    load8(x + (u64)rows[row] * width + col, v);
    store8(out + row * width + col, v);
}

// Adds the rows order[starts[u]..starts[u + 1]] of what to row unique[u] of to, in order. There is
// one block per row of to, so that no two threads meet at one number.
template <class To>
__device__ __forceinline__ void scatter(
    const T* what, const u32* order, const u32* starts, const u32* unique, u32 width, To* to
) {
    u32 vectors = width / 8, groups = blockDim.x / vectors, group = threadIdx.x / vectors;
    u32 col = threadIdx.x % vectors * 8, first = starts[blockIdx.x], last = starts[blockIdx.x + 1];
    float sum[8] = {};
    if (group < groups) {
#pragma unroll 4
        for (u32 i = first + group; i < last; i += groups) {
            float v[8];
            load8(what + (u64)order[i] * width + col, v);
#pragma unroll
            for (int k = 0; k < 8; k++) sum[k] += v[k];
        }
        store8(shared + group * width + col, sum);
    }
    __syncthreads();
    if (group == 0) {
        u32 used = min(groups, last - first);
        for (u32 g = 1; g < used; g++) {
            float v[8];
            load8(shared + g * width + col, v);
#pragma unroll
            for (int k = 0; k < 8; k++) sum[k] += v[k];
        }
        float v[8];
        To* place = to + (u64)unique[blockIdx.x] * width + col;
        load8(place, v);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] += sum[k];
        store8(place, v);
    }
}

extern "C" __global__ void scatter_rows(
    const T* what, const u32* order, const u32* starts, const u32* unique, u32 width, T* to
) {
    scatter(what, order, starts, unique, width, to);
}

extern "C" __global__ void scatter_gradients(
    const T* what, const u32* order, const u32* starts, const u32* unique, u32 width, float* to
) {
    scatter(what, order, starts, unique, width, to);
}

// One block per story. Means are activations if the network goes on with them, and floats if they
// leave it.
template <class To>
__device__ __forceinline__ void mean_of_rows(const T* x, const u32* bounds, u32 width, To* means) {
    u32 first = bounds[blockIdx.x], last = bounds[blockIdx.x + 1];
    for (u32 col = threadIdx.x * 8; col < width; col += blockDim.x * 8) {
        float sum[8] = {};
        for (u32 row = first; row < last; row++) {
            float v[8];
            load8(x + (u64)row * width + col, v);
#pragma unroll
            for (int i = 0; i < 8; i++) sum[i] += v[i];
        }
        float count = (float)max(last - first, 1u);
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] /= count;
        store8(means + (u64)blockIdx.x * width + col, sum);
    }
}

extern "C" __global__ void story_means(const T* x, const u32* bounds, u32 width, T* means) {
    mean_of_rows(x, bounds, width, means);
}

extern "C" __global__ void story_means_out(const T* x, const u32* bounds, u32 width, float* means) {
    mean_of_rows(x, bounds, width, means);
}

extern "C" __global__ void story_means_backward(const T* d_means, const u32* bounds, u32 width, T* d_x) {
    u32 first = bounds[blockIdx.x], last = bounds[blockIdx.x + 1];
    float count = (float)max(last - first, 1u);
    for (u32 col = threadIdx.x * 8; col < width; col += blockDim.x * 8) {
        float d[8];
        load8(d_means + (u64)blockIdx.x * width + col, d);
        for (u32 row = first; row < last; row++) {
            float v[8];
            load8(d_x + (u64)row * width + col, v);
#pragma unroll
            for (int i = 0; i < 8; i++) v[i] += d[i] / count;
            store8(d_x + (u64)row * width + col, v);
        }
    }
}
