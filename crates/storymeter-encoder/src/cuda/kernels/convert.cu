// Between floats and activations.
extern "C" __global__ void to_activations(const float* x, u64 count, T* out) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) store1(out + i, x[i]);
}

extern "C" __global__ void from_activations(const T* x, u64 count, float* out) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = load1(x + i);
}
