// One vector per sequence: its first row, or the mean of its rows. Sequence i has the rows from
// bounds[i * step] to bounds[i * step + 1]; without rows its vector is zero.
extern "C" __global__ void pool_rows(const float* x, const u32* bounds, u32 step, u32 width, u32 mean, float* out) {
    u32 first = bounds[blockIdx.x * step], last = bounds[blockIdx.x * step + 1];
    for (u32 col = threadIdx.x; col < width; col += blockDim.x) {
        double sum = first < last ? x[(u64)first * width + col] : 0.0f;
        if (mean && first < last) {
            for (u32 row = first + 1; row < last; row++) sum += x[(u64)row * width + col];
            sum /= (double)(last - first);
        }
        out[(u64)blockIdx.x * width + col] = (float)sum;
    }
}
