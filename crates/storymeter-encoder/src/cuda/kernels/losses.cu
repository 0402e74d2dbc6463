// Losses, and the optimiser. The cross-entropy exists twice: once reading the logits again for the
// gradient, and once holding them in registers, where a row is short enough.

// Eight numbers as they are in memory.
#if HALF
typedef uint4 Raw;
#else
struct __align__(16) Raw { float v[8]; };
#endif

// The largest number of a block and the sum of e^(x - largest), from those of each thread.
__device__ __forceinline__ void block_softmax(float& top, float& total) {
    __shared__ float tops[32], totals[32];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float highest = warp_max(top);
    total = warp_sum(top == -INFINITE ? 0.0f : total * __expf(top - highest));
    if (lane == 0) {
        tops[warp] = highest;
        totals[warp] = total;
    }
    __syncthreads();
    top = -INFINITE;
    for (u32 w = 0; w < warps; w++) top = fmaxf(top, tops[w]);
    total = 0.0f;
    for (u32 w = 0; w < warps; w++) total += tops[w] == -INFINITE ? 0.0f : totals[w] * __expf(tops[w] - top);
}

__device__ __forceinline__ void softmax_take(float v[8], u32 col, u32 outputs, float& top, float& total) {
    float best = -INFINITE;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        if (col + i >= outputs) v[i] = -INFINITE;
        best = fmaxf(best, v[i]);
    }
    if (best > top) {
        total *= __expf(top - best);
        top = best;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) total += __expf(v[i] - top);
}

__device__ __forceinline__ void softmax_give(
    float v[8], u32 col, u32 outputs, u32 target, float weight, float factor, float top
) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
        v[i] = factor * __expf(v[i] - top) - (col + i == target ? weight : 0.0f);
        if (col + i >= outputs) v[i] = 0.0f;
    }
}

// One block per row of logits, which become their gradient. losses[row] is the loss of the row.
extern "C" __global__ void softmax_loss(
    T* logits, u32 stride, u32 outputs, const u32* targets, const float* weights, float* losses
) {
    T* row = logits + (u64)blockIdx.x * stride;
    float top = -INFINITE, total = 0.0f;
    for (u32 col = threadIdx.x * 8; col < outputs; col += blockDim.x * 8) {
        float v[8];
        load8(row + col, v);
        softmax_take(v, col, outputs, top, total);
    }
    block_softmax(top, total);
    u32 target = targets[blockIdx.x];
    float weight = weights[blockIdx.x];
    if (threadIdx.x == 0) losses[blockIdx.x] = weight * (logf(total) - (load1(row + target) - top));
    __syncthreads();
    for (u32 col = threadIdx.x * 8; col < outputs; col += blockDim.x * 8) {
        float v[8];
        load8(row + col, v);
        softmax_give(v, col, outputs, target, weight, weight / total, top);
        store8(row + col, v);
    }
}

// The same for at most 32768 outputs: 512 threads hold the row in registers and read it once.
extern "C" __global__ void __launch_bounds__(512) softmax_loss_held(
    T* logits, u32 stride, u32 outputs, const u32* targets, const float* weights, float* losses
) {
    T* row = logits + (u64)blockIdx.x * stride;
    Raw held[8];
    float top = -INFINITE, total = 0.0f;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        u32 col = (k * 512 + threadIdx.x) * 8;
        if (col < outputs) held[k] = *(const Raw*)(row + col);
    }
#pragma unroll
    for (int k = 0; k < 8; k++) {
        u32 col = (k * 512 + threadIdx.x) * 8;
        if (col < outputs) {
            float v[8];
            load8((const T*)&held[k], v);
            softmax_take(v, col, outputs, top, total);
        }
    }
    block_softmax(top, total);
    u32 target = targets[blockIdx.x];
    float weight = weights[blockIdx.x];
    if (threadIdx.x == 0) losses[blockIdx.x] = weight * (logf(total) - (load1(row + target) - top));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
        u32 col = (k * 512 + threadIdx.x) * 8;
        if (col < outputs) {
            float v[8];
            load8((const T*)&held[k], v);
            softmax_give(v, col, outputs, target, weight, weight / total, top);
            store8(row + col, v);
        }
    }
}

// One warp per row: a few outputs, their losses and gradients, and the gradient of x. The kinds are
// 0, cross-entropy by a sigmoid; 1, squared errors; and 2, computed on the host, where the label is
// the gradient and the weight is the loss.
extern "C" __global__ void label_loss(
    const T* x, const float* weight, const float* bias, const float* labels, const float* weights, u32 rows, u32 width,
    u32 outputs, u32 kind, float* losses, float* d_logits, T* d_x
) {
    u32 lane = threadIdx.x % 32;
    u64 row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    for (u32 o = 0; o < outputs; o++) {
        float dot = 0.0f;
        for (u32 col = lane * 8; col < width; col += 256) {
            float v[8], w[8];
            load8(x + row * width + col, v);
            load8(weight + (u64)o * width + col, w);
#pragma unroll
            for (int i = 0; i < 8; i++) dot += v[i] * w[i];
        }
        float z = warp_sum(dot) + bias[o];
        if (lane == 0) {
            u64 place = row * outputs + o;
            float label = labels[place], each = weights[place];
            if (kind == 2) {
                losses[place] = each;
                d_logits[place] = label;
            } else if (kind == 1) {
                losses[place] = each * (z - label) * (z - label);
                d_logits[place] = 2.0f * each * (z - label);
            } else {
                losses[place] = each * (fmaxf(z, 0.0f) - label * z + log1pf(expf(-fabsf(z))));
                d_logits[place] = each * (1.0f / (1.0f + expf(-z)) - label);
            }
        }
    }
    __syncwarp();
    for (u32 col = lane * 8; col < width; col += 256) {
        float sum[8] = {};
        for (u32 o = 0; o < outputs; o++) {
            float w[8], d = d_logits[row * outputs + o];
            load8(weight + (u64)o * width + col, w);
#pragma unroll
            for (int i = 0; i < 8; i++) sum[i] += d * w[i];
        }
        store8(d_x + row * width + col, sum);
    }
}

// Adds the gradients of the weight of output blockIdx.y (32 columns per block) and of its bias
// (block 0).
extern "C" __global__ void label_gradients(
    const T* x, const float* d_logits, u32 rows, u32 width, u32 outputs, float* d_weight, float* d_bias
) {
    __shared__ float sums[8][33];
    u32 lane = threadIdx.x % 32, group = threadIdx.x / 32, col = blockIdx.x * 32 + lane, o = blockIdx.y;
    float sum = 0.0f, all = 0.0f;
#pragma unroll 4
    for (u32 row = group; row < rows; row += 8) {
        float d = d_logits[(u64)row * outputs + o];
        all += d;
        if (col < width) sum += d * load1(x + (u64)row * width + col);
    }
    sums[group][lane] = sum;
    __syncthreads();
    if (group == 0 && col < width) {
        for (u32 g = 1; g < 8; g++) sum += sums[g][lane];
        d_weight[(u64)o * width + col] += sum;
    }
    __syncthreads();
    if (lane == 0) sums[group][0] = all;
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        for (u32 g = 1; g < 8; g++) all += sums[g][0];
        d_bias[o] += all;
    }
}

// One block: adds all losses to *to, in a fixed order.
extern "C" __global__ void sum_losses(const float* losses, u32 count, double* to) {
    __shared__ double sums[256];
    double sum = 0.0;
    for (u32 i = threadIdx.x; i < count; i += 256) sum += (double)losses[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 i = 1; i < 256; i++) sum += sums[i];
        *to += sum;
    }
}

// The sum of squares of the part of each block.
extern "C" __global__ void square_sums(const float* x, u64 vectors, double* partial) {
    __shared__ double sums[256];
    double sum = 0.0;
    for (u64 i = (u64)blockIdx.x * 256 + threadIdx.x; i < vectors; i += (u64)gridDim.x * 256) {
        float4 v = ((const float4*)x)[i];
        sum += (double)(v.x * v.x + v.y * v.y) + (double)(v.z * v.z + v.w * v.w);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (u32 half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

// One block: the root of the sum of all parts. Behind it are two counters of the steps that are
// skipped because it is not finite: all of them, and those since the last step that was taken.
extern "C" __global__ void norm_of_parts(const double* partial, u32 parts, double* norm) {
    __shared__ double sums[256];
    double sum = 0.0;
    for (u32 i = threadIdx.x; i < parts; i += 256) sum += partial[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 i = 1; i < 256; i++) sum += sums[i];
        double length = sqrt(sum);
        bool is_taken = length < 1.7e308;
        norm[0] = length;
        norm[1] += is_taken ? 0.0 : 1.0;
        norm[2] = is_taken ? 0.0 : norm[2] + 1.0;
    }
}

struct Adam {
    float rate, beta1, beta2, eps, decay, correction1, correction2, clip;
};

// AdamW on everything at once, four numbers per thread. decays[i / 8] says whether the tensor of
// number i decays. A norm that is not finite moves nothing. `shadow` gets the weights in
// sixteen bits if activations have sixteen bits.
extern "C" __global__ void adam(
    float* weights, const float* gradient, float* mean, float* square, T* shadow, const unsigned char* decays,
    u64 vectors, const double* norm, Adam s
) {
    double length = *norm;
    if (!(length < 1.7e308)) return;
    float clip = (float)fmin((double)s.clip / fmax(length, 2.3e-308), 1.0);
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += (u64)gridDim.x * blockDim.x) {
        float4 w4 = ((float4*)weights)[i], g4 = ((const float4*)gradient)[i];
        float4 m4 = ((float4*)mean)[i], v4 = ((float4*)square)[i];
        float w[4] = {w4.x, w4.y, w4.z, w4.w}, g[4] = {g4.x, g4.y, g4.z, g4.w};
        float m[4] = {m4.x, m4.y, m4.z, m4.w}, v[4] = {v4.x, v4.y, v4.z, v4.w};
        float decay = decays[i / 2] ? s.decay : 0.0f;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float d = g[k] * clip;
            m[k] = s.beta1 * m[k] + (1.0f - s.beta1) * d;
            v[k] = s.beta2 * v[k] + (1.0f - s.beta2) * d * d;
            w[k] -= s.rate * decay * w[k];
            w[k] -= s.rate * (m[k] / s.correction1) / (sqrtf(v[k] / s.correction2) + s.eps);
        }
        ((float4*)weights)[i] = make_float4(w[0], w[1], w[2], w[3]);
        ((float4*)mean)[i] = make_float4(m[0], m[1], m[2], m[3]);
        ((float4*)square)[i] = make_float4(v[0], v[1], v[2], v[3]);
#if HALF
        ((uint2*)shadow)[i] = make_uint2(pack2(w[0], w[1]), pack2(w[2], w[3]));
#endif
    }
}

// The bias of every distance, head by head, from the table of buckets x heads.
extern "C" __global__ void relative_table(const float* weights, const u32* buckets, u32 span, u32 heads, float* table) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < span * heads) table[i] = weights[buckets[i % span] * heads + i / span];
}

// Adds the sums of the parts, partial[part][heads][buckets], to to[buckets][heads]. One block per
// head and bucket.
extern "C" __global__ void add_relative(const float* partial, u32 parts, u32 heads, u32 buckets, float* to) {
    __shared__ float sums[128];
    u32 bucket = blockIdx.x, head = blockIdx.y;
    float sum = 0.0f;
    for (u32 p = threadIdx.x; p < parts; p += 128) sum += partial[((u64)p * heads + head) * buckets + bucket];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (u32 half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) to[bucket * heads + head] += sums[0];
}
